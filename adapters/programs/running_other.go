//go:build !unix

package programs

import (
	"os/exec"

	"holdco/domain/id"
	"holdco/ports/outbound"
)

func (p *Programs) launch(launch) (outbound.RunningProgram, error) {
	return nil, refuse(nil, "Programs cannot be run on this system: it has no process groups")
}

// killNoted has nothing to kill where nothing is started.
func killNoted(map[id.Run]note) {}

// killedWhole does nothing where there are no process groups.
func killedWhole(*exec.Cmd) {}
