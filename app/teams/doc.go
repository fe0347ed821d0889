// Package teams is the use cases of teams: the groups of a company in which agents are hired.
package teams
