// Package agent is agents: who works in the teams of a company, and may take its issues.
package agent
