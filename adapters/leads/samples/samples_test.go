package samples_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"holdco/adapters/leads/importer"
	"holdco/adapters/leads/samples"
	"holdco/domain/id"
	"holdco/domain/lead"
)

// start is later than whatever happens in a set.
var start = time.Date(2026, time.November, 21, 0, 0, 0, 0, time.UTC)

var update = flag.Bool("update", false, "write testdata/leads anew")

// The files of testdata/leads are a set of 50 leads.
func TestASetIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	set := samples.New(50, 1)
	for name, write := range map[string]func(to io.Writer) error{
		"taxonomy.json": set.Taxonomy, "campaigns.ndjson": set.Campaigns, "leads.ndjson": set.Leads,
	} {
		path := filepath.Join("..", "..", "..", "testdata", "leads", name)
		got := written(t, write)
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what is made; if it should be, run the test with -update", name)
		}
	}
	if bytes.Equal(written(t, samples.New(50, 2).Leads), written(t, set.Leads)) {
		t.Error("another seed makes no difference")
	}
}

func TestASetHasNoFaultsAndLooksReal(t *testing.T) {
	t.Parallel()
	const count = 20_000
	set := samples.New(count, 7)
	draft, err := importer.Files{}.Taxonomy(bytes.NewReader(written(t, set.Taxonomy)))
	if err != nil {
		t.Fatal(err)
	}
	taxonomy, _, err := draft.Over(lead.Taxonomy{}, start)
	if err != nil {
		t.Fatal(err)
	}
	active := taxonomy.Active()
	if len(taxonomy.Industries) != 20 || len(taxonomy.Verticals) != 80 || len(taxonomy.Geographies) != 40 ||
		len(taxonomy.Intelligence) == 0 ||
		len(active.Industries) != 18 || len(active.Verticals) >= 72 {
		t.Errorf("%d industries, %d of them active, %d verticals, %d of them active, %d geographies", len(taxonomy.Industries),
			len(active.Industries),
			len(taxonomy.Verticals), len(active.Verticals), len(taxonomy.Geographies))
	}

	var campaigns []id.Campaign
	for line, err := range (importer.Files{}).Campaigns(bytes.NewReader(written(t, set.Campaigns)), importer.NDJSON) {
		if err != nil {
			t.Fatal(err)
		}
		campaign, err := line.Draft.Campaign(taxonomy.Catalog(nil))
		if err != nil {
			t.Errorf("campaign %d: %v", line.Number, err)
		}
		campaigns = append(campaigns, campaign.ID)
	}
	if len(campaigns) != count/500 {
		t.Errorf("%d campaigns", len(campaigns))
	}

	catalog := taxonomy.Catalog(campaigns)
	seen := map[id.Lead]bool{}
	rated, inCampaigns, websites, contacts, inFirst := 0, 0, 0, 0, 0
	for line, err := range (importer.Files{}).Leads(bytes.NewReader(written(t, set.Leads)), importer.NDJSON) {
		if err != nil {
			t.Fatal(err)
		}
		l, err := line.Draft.Lead(catalog)
		if err == nil {
			_, _, err = line.Draft.Timestamps(start)
		}
		if err != nil {
			t.Fatalf("lead %d: %v", line.Number, err)
		}
		seen[l.ID] = true
		rated += one(l.Rating != lead.Unrated)
		inCampaigns += one(len(l.Campaigns) > 0)
		websites += one(l.Website != "")
		contacts += len(l.Contacts)
		inFirst += one(l.Industry == "ind_food-and-drink")
	}
	if len(seen) != count {
		t.Errorf("%d ids of %d leads", len(seen), count)
	}
	for what, share := range map[string][3]float64{
		"rated":                 {0.84, float64(rated) / count, 0.86},
		"with a website":        {0.68, float64(websites) / count, 0.72},
		"in campaigns":          {0.57, float64(inCampaigns) / count, 0.63},
		"in the first industry": {0.15, float64(inFirst) / count, 0.5},
		"contacts of each":      {1.1, float64(contacts) / count, 1.3},
	} {
		if share[1] < share[0] || share[1] > share[2] {
			t.Errorf("%s: %.3f; want %.2f to %.2f", what, share[1], share[0], share[2])
		}
	}
}

func TestWhatCannotBeWrittenIsAnError(t *testing.T) {
	t.Parallel()
	set := samples.New(10_000, 1)
	for _, write := range []func(to io.Writer) error{set.Taxonomy, set.Campaigns, set.Leads} {
		if err := write(full{}); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%v", err)
		}
	}
}

func BenchmarkLeads(b *testing.B) {
	for b.Loop() {
		if err := samples.New(1000, 1).Leads(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

// full is a disk with nothing left.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func written(t *testing.T, write func(to io.Writer) error) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}
