// Package demo is a company to look at: who works there, what is worked on, how agents go about an issue, and what people say
// about it. The seed of a Dice gives the same company every time.
//
// Start with Teams and Agents. NextTask is what people file; Decide and Respond are what they say to what comes of it. ScriptFor is
// what an agent does for an issue; it is played in real time by a program that works under a lease, and in no time by whoever writes
// down the past.
package demo
