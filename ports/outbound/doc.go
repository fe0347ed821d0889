// Package outbound holds the ports to everything that the application needs from outside except its store.
package outbound
