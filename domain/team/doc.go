// Package team is teams and their slots: each slot is filled by at most one hired agent.
package team
