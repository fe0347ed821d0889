// Package programs runs the programs of agents on this host, each in the workspace of its issue, and keeps what they write.
//
//	<data dir>/workspaces/<company>/issues/<issue>/          the workspace, kept from one attempt to the next
//	<data dir>/workspaces/<company>/issues/<issue>/.holdco/  context.json, mcp.json and result.json
//	<data dir>/workspaces/<company>/logs/<run>.log           what a program wrote; long ones: see log.go
//	<data dir>/holders/<holder>/                             what a process of Holdco has started: see holder.go
//
// A program runs as the user of Holdco and can do what that user can. What is here keeps it from harm by mistake and from
// leaving processes behind; it is no sandbox. No path or link that a program leaves makes Holdco read or write outside of
// the directory of the company.
//
// # What is killed
//
// When a program has ended, its process group is killed. On Linux so is each process that has the HOLDCO_RUN_ID of the
// program in its environment, in whatever group or session. A process escapes that cleared its environment and left the
// group, or whose environment may not be read, such as one of another user.
//
// After a crash of Holdco the next process kills what was left: on Linux by HOLDCO_RUN_ID and by the process that was
// noted, on macOS by the latter alone, so there the children of a program that has ended live on. Elsewhere the start of a
// process is not known, and nothing is killed. What runs in a container is not seen from another one.
//
// On systems without process groups, such as Windows, programs cannot be started.
package programs
