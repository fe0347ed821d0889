// Package demo is a company to look at: who works there, what is worked on, how agents go about an issue, and what people say
// about it. A plan, and the seed of a Dice, give the same company every time.
//
// Start with Founding. ScriptFor is what an agent does for an issue; it is played in real time by a program that works under a
// lease, and in no time by whoever writes down the past.
package demo
