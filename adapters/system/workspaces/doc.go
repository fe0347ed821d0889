// Package workspaces keeps the directories in which the agents of each company work: <data dir>/workspaces/<company id>/.
package workspaces
