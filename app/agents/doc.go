// Package agents is the use cases of agents: who is hired into the teams of a company.
package agents
