package wiring_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"holdco/adapters/leads/samples"
	"holdco/domain/event"
	"holdco/domain/lead"
)

// An import that is killed has kept whole batches; the same command completes it, and then changes nothing any more. The
// server runs on the store all the while.
func TestAKilledImportIsCompletedByTheNext(t *testing.T) {
	t.Parallel()
	const many = 20_000
	eachDatabase(t, func(t *testing.T, environ ...string) {
		s := start(t, newClock(), environ...)
		set, dir := samples.New(many, 1), t.TempDir()
		taxonomy, campaigns, leads := filepath.Join(dir, "t.json"), filepath.Join(dir, "c.ndjson"), filepath.Join(dir, "l.ndjson")
		var text bytes.Buffer
		must(t, set.Taxonomy(&text))
		must(t, os.WriteFile(taxonomy, text.Bytes(), 0o600))
		text.Reset()
		must(t, set.Campaigns(&text))
		must(t, os.WriteFile(campaigns, text.Bytes(), 0o600))
		text.Reset()
		must(t, set.Leads(&text))
		must(t, os.WriteFile(leads, text.Bytes(), 0o600))
		members := int64(bytes.Count(text.Bytes(), []byte(`"cam_`)))

		importing := func(args ...string) *exec.Cmd {
			command := exec.Command("holdco", args...)
			command.Env = slices.Concat(os.Environ(), environ)
			command.Stderr = t.Output()
			return command
		}
		must(t, importing("taxonomy", "import", taxonomy).Run())
		must(t, importing("campaigns", "import", campaigns).Run())
		killed := importing("leads", "import", leads)
		must(t, killed.Start())
		await(t, "the first batches", func() bool { return s.leadState(t).Revision > 4 })
		_ = killed.Process.Kill()
		_ = killed.Wait()
		before := s.leadsAddUp(t)
		if before == 0 || before == many {
			t.Errorf("%d leads were kept: nothing was put to the test", before)
		}

		var summary struct{ Read, Inserted, Unchanged int64 }
		run := func() {
			t.Helper()
			out, err := importing("leads", "import", "--json", leads).Output()
			must(t, err)
			must(t, json.Unmarshal(out, &summary))
		}
		if run(); summary.Read != many || summary.Inserted != many-before || summary.Unchanged != before {
			t.Errorf("%+v; %d were there", summary, before)
		}
		if got := s.leadsAddUp(t); got != many {
			t.Errorf("%d leads", got)
		}
		if got := s.members(t); got != members {
			t.Errorf("the campaigns have %d leads; want %d", got, members)
		}
		state := s.leadState(t)
		if run(); summary.Unchanged != many || s.leadState(t) != state {
			t.Errorf("the next import: %+v", summary)
		}
	})
}

// Whoever uses the server while leads are imported waits no longer than a unit or two take.
func TestTheServerAnswersWhileLeadsAreImported(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		s := start(t, newClock(), environ...)
		var text bytes.Buffer
		for n := range 5 {
			must(t, samples.New(4000, uint64(n)).Leads(&text))
		}
		// Without a taxonomy.
		plain := make([]string, 0, 20_000)
		for line := range strings.Lines(text.String()) {
			head, _, _ := strings.Cut(line, `,"industry"`)
			plain = append(plain, head+"}\n")
		}
		importing := exec.CommandContext(t.Context(), "holdco", "leads", "import", "-")
		importing.Env = slices.Concat(os.Environ(), environ)
		importing.Stdin = strings.NewReader(strings.Join(plain, ""))
		importing.Stderr = t.Output()
		ended := make(chan error, 1)
		go func() { ended <- importing.Run() }()
		written, longest := 0, time.Duration(0)
		for {
			select {
			case err := <-ended:
				must(t, err)
				if written == 0 {
					t.Error("nothing was written meanwhile")
				}
				t.Logf("%d companies were created meanwhile, in at most %s each", written, longest)
				return
			default:
				begun := time.Now()
				s.create(t, fmt.Sprintf(`{"name":"Acme","slug":"acme-%d"}`, written))
				longest = max(longest, time.Since(begun))
				written++
			}
		}
	})
}

func (s *instance) leadState(t *testing.T) lead.State {
	t.Helper()
	state, err := s.store.Leads().State(context.Background())
	must(t, err)
	return state
}

// leadsAddUp holds the leads that there are against the events of the units that kept them.
func (s *instance) leadsAddUp(t *testing.T) int64 {
	t.Helper()
	page, err := s.store.Leads().Search(context.Background(), lead.Query{Size: 1})
	must(t, err)
	var reported int64
	for _, happened := range s.events(t, "") {
		if happened.Type != event.LeadImported {
			continue
		}
		text, err := happened.Data.MarshalJSON()
		must(t, err)
		var data struct{ Inserted int64 }
		must(t, json.Unmarshal(text, &data))
		reported += data.Inserted
	}
	if page.Total != reported {
		t.Errorf("there are %d leads, and the log reports %d", page.Total, reported)
	}
	return page.Total
}

// members counts the leads of all campaigns.
func (s *instance) members(t *testing.T) int64 {
	t.Helper()
	page, err := s.store.Campaigns().Search(context.Background(), lead.CampaignQuery{Size: 1000})
	must(t, err)
	var members int64
	for _, campaign := range page.Campaigns {
		members += campaign.LeadCount
	}
	return members
}
