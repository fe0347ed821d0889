// Package demo writes down the past of a company to look at: what its people did and its agents, through the use cases with which
// people and agents work, at times that have passed.
//
// Start with Service.Fill. The store is at another time meanwhile (Clock), and what a few agents do side by side is one unit of work
// (World.Unit), at the end of which no lease is open: servers on the store see none that has run out.
package demo
