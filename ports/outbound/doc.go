// Package outbound holds the ports to everything that the application needs from outside, except the store.
package outbound
