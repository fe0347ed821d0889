package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"holdco/domain/lead"
	"holdco/ports/outbound"
)

// progress shows how far something is: on a terminal in a bar, elsewhere in a line now and then.
type progress struct {
	out   io.Writer
	clock outbound.Clock
	doing string
	size  int64 // in bytes; -1: unknown

	bar  *progressbar.ProgressBar // nil: no terminal
	last time.Time                // when a line was written
}

func (a *app) newProgress(out io.Writer, doing string, size int64) *progress {
	p := &progress{out: out, clock: a.program.Clock, doing: doing, size: size, last: a.program.Clock.Now()}
	if file, isFile := out.(*os.File); isFile && term.IsTerminal(int(file.Fd())) {
		p.bar = progressbar.NewOptions64(size,
			progressbar.OptionSetWriter(out), progressbar.OptionSetDescription(doing), progressbar.OptionShowBytes(true),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetPredictTime(size >= 0),
			progressbar.OptionFullWidth(), progressbar.OptionClearOnFinish())
	}
	return p
}

func (p *progress) show(now lead.ImportProgress) {
	if p.bar != nil {
		p.bar.Describe(fmt.Sprintf("%s: %d", p.doing, now.Lines))
		_ = p.bar.Set64(now.Bytes)
		return
	}
	const pause = 10 * time.Second
	at := p.clock.Now()
	if at.Sub(p.last) < pause {
		return
	}
	p.last = at
	part := ""
	if p.size > 0 {
		part = fmt.Sprintf(" (%d %%)", now.Bytes*100/p.size)
	}
	fmt.Fprintf(p.out, "%s: %d lines%s\n", p.doing, now.Lines, part)
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
