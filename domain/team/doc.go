// Package team holds teams and their slots: a slot is a place in a team that one hired agent fills.
package team
