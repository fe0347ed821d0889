// Package agents is the use cases of agents: who is hired into the teams of a company, and who calls the gateway.
package agents
