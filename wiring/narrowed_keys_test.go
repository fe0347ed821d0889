package wiring_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/partner/partnertest"
	"holdco/adapters/http/rest/resttest"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

// What is mistyped hides everything.
func TestAKeyThatIsNarrowedToWhatIsNotThereSaysSo(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		made := s.Post("/v1/partners", `{"name":"A","origins":["`+acmeOrigin+`"],"campaignIds":["cam_nope"],"industryIds":["ind_nope"]}`)
		made.Is(t, 201, "")
		key := resttest.Data[apiPartner](t, made)
		if want := []string{"cam_nope", "ind_nope"}; !slices.Equal(key.Unknown, want) {
			t.Errorf("%q", key.Unknown)
		}
		for _, c := range []struct {
			patch string
			want  []string
		}{
			{`{"campaignIds":[]}`, []string{"ind_nope"}}, {`{"name":"B"}`, []string{"ind_nope"}}, {`{"industryIds":[]}`, nil},
		} {
			if got := resttest.Data[apiPartner](t, s.Patch(key.path(), c.patch)).Unknown; !slices.Equal(got, c.want) {
				t.Errorf("%s: %q", c.patch, got)
			}
		}
		if body := string(s.Get(key.path()).Body); strings.Contains(body, "unknown") {
			t.Error(body)
		}
		test := s.Post("/v1/partners", `{"name":"T","origins":["`+acmeOrigin+`"],"test":true,"campaignIds":["cam_nope"]}`)
		if got := resttest.Data[apiPartner](t, test).Unknown; !slices.Equal(got, []string{"cam_nope"}) {
			t.Errorf("of the sample: %q", got)
		}
	})
}

// What is changed of a key at one server ends its streams at another, and what comes after sees as much as it may. The client takes nothing
// of the streams but their beginning, so that they would last.
func TestAKeyThatIsNarrowedOrRevokedEndsItsStreamsAtAnotherServerOnPostgres(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	environ := append(onPostgres(t, dir), "HOLDCO_KEY_FILE="+filepath.Join(dir, "key"), "HOLDCO_LOG_LEVEL=info")
	here := startProcess(t, environ...)
	there := startProcess(t, append(environ, dataDir+t.TempDir())...)
	f := &guideFiles{t: t, dir: dir, environ: environ}
	f.taxonomy("Food", "Tools")
	const leads = 15_000 // more than fits between the server and the client
	var lines strings.Builder
	for n := range leads {
		page := "https://www.example.com/" + strings.Repeat("x", 200)
		fmt.Fprintf(&lines, `{"id":%q,"name":"Lead","industry_id":"ind_food","contacts":[{"name":"Ada Berg"}],`+
			`"social_media":{"instagram":%[2]q,"facebook":%[2]q,"linkedin":%[2]q,"twitter":%[2]q,"tiktok":%[2]q}}`+"\n", leadID(n), page)
	}
	f.run("leads", "import", f.write("leads.ndjson", lines.String()))
	ask := resttest.New(t, here.url, string(rootToken))
	made := ask.Post("/v1/partners", `{"name":"Acme","origins":["`+acmeOrigin+`"]}`)
	made.Is(t, 201, "")
	shown := resttest.Data[apiPartner](t, made)
	reader := partnertest.New(t, there.exportURL, shown.Key)
	await(t, "the leads at the other server", func() bool { return reader.Get("leads").Pagination.Total == leads })

	for _, c := range []struct {
		what   string
		change func() resttest.Answer
		after  string // of what the key is told of itself
	}{
		{"without contacts", func() resttest.Answer { return ask.Patch(shown.path(), `{"contacts":false}`) }, `"contacts":false,`},
		{"of an industry", func() resttest.Answer {
			return ask.Patch(shown.path(), `{"industryIds":["ind_food"]}`)
		}, `"industry_ids":["ind_food"],"contacts":false,`},
		{"of all again", func() resttest.Answer {
			return ask.Patch(shown.path(), `{"industryIds":[],"contacts":true}`)
		}, `"industry_ids":[],"contacts":true,`},
		{"revoked", func() resttest.Answer { return ask.Delete(shown.path()) }, `"code":"unauthorized"`},
	} {
		ended := func() int { return strings.Count(there.log.String(), "a stream broke off") }
		var page struct {
			Pagination struct {
				Next string `json:"next_cursor"`
			}
		}
		must(t, json.Unmarshal(reader.Get("leads/changes").Body, &page))
		before := ended()
		var open []*bufio.Reader
		for _, path := range []string{"leads", "leads/changes"} {
			stream := reader.Open(partnertest.Request{Path: path, Header: map[string]string{"Accept": "application/x-ndjson"}})
			defer stream.Body.Close()
			lines := bufio.NewReader(stream.Body)
			_, err := lines.ReadString('\n')
			must(t, err)
			open = append(open, lines)
		}
		c.change().Is(t, 200, "")
		began := time.Now()
		await(t, "the end of both streams", func() bool { return ended() == before+len(open) })
		t.Logf("%s: the streams ended after %s", c.what, time.Since(began).Round(time.Millisecond))
		for _, lines := range open {
			if _, err := io.Copy(io.Discard, lines); err == nil {
				t.Errorf("%s: a stream ended as if it were complete", c.what)
			}
		}
		if after := string(reader.Get("me").Body); !strings.Contains(after, c.after) {
			t.Errorf("%s: %s", c.what, after)
		}
		if c.what != "revoked" {
			reader.Get("leads/changes?cursor="+page.Pagination.Next).Is(t, 400, "invalid_cursor")
		}
	}
}

// Of the campaigns that a lead is in, a key is told those that it is shown in the list of campaigns, and no others are found by their ids.
func TestCampaignsThatAKeyMayNotSeeAreNotInItsLeads(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		keep := func(industryOfMoved id.Industry) {
			s.changeLeads(t, func(ctx context.Context, tx store.Tx, at time.Time) error {
				var all []lead.Campaign
				for which, industry := range map[id.Campaign]id.Industry{
					"cam_food": "ind_food", "cam_moved": industryOfMoved, "cam_bare": "",
				} {
					all = append(all, lead.Campaign{
						ID: which, Name: "C", Status: lead.StatusActive, Industry: industry, CreatedAt: at, UpdatedAt: at,
					})
				}
				slices.SortFunc(all, func(a, b lead.Campaign) int { return strings.Compare(string(a.ID), string(b.ID)) })
				return tx.Campaigns().Keep(ctx, all)
			})
		}
		s.changeLeads(t, func(ctx context.Context, tx store.Tx, _ time.Time) error {
			return tx.Taxonomy().Keep(ctx, lead.Taxonomy{Industries: []lead.Industry{
				{ID: "ind_food", Name: "Food", Slug: "food", Active: true}, {ID: "ind_tools", Name: "Tools", Slug: "tools", Active: true},
			}})
		})
		keep("ind_tools")
		s.changeLeads(t, func(ctx context.Context, tx store.Tx, at time.Time) error {
			one := lead.Lead{
				ID: id.Lead(leadID(1)), Name: "L", Rating: lead.Unrated, Enrichment: lead.None, Industry: "ind_food",
				Campaigns: []id.Campaign{"cam_bare", "cam_food", "cam_moved"},
			}
			merged := lead.Merge([]lead.Incoming{one.Incoming()}, nil, at)
			if err := tx.Campaigns().Count(ctx, merged.Members); err != nil {
				return err
			}
			return tx.Leads().Keep(ctx, merged.Changed)
		})
		readers := map[string]*partnertest.Client{}
		for _, narrowed := range []string{
			`"industryIds":["ind_food"]`, `"industryIds":["ind_food"],"campaignIds":["cam_food","cam_moved"]`, `"campaignIds":["cam_food"]`,
		} {
			made := s.Post("/v1/partners", fmt.Sprintf(`{"name":"Acme","origins":[%q],%s}`, acmeOrigin, narrowed))
			made.Is(t, 201, "")
			readers[narrowed] = s.readerWith(t, resttest.Data[apiPartner](t, made).Key)
		}
		check := func(narrowed string, shown ...string) {
			t.Helper()
			reader := readers[narrowed]
			table := reader.Send(partnertest.Request{Path: "leads?fields=campaign_ids&format=csv"})
			if want := leadID(1) + "," + strings.Join(shown, " ") + "\n"; !strings.HasSuffix(string(table.Body), want) {
				t.Errorf("%s: the table: %s", narrowed, table.Body)
			}
			want := `"campaign_ids":["` + strings.Join(shown, `","`) + `"]`
			for _, path := range []string{
				"leads", "leads/" + leadID(1), "leads?fields=campaign_ids", "leads?format=ndjson", "leads/changes",
			} {
				if got := string(reader.Send(partnertest.Request{Path: path}).Body); !strings.Contains(got, want) {
					t.Errorf("%s: %s: %s", narrowed, path, got)
				}
			}
			for _, one := range []string{"cam_food", "cam_moved", "cam_bare"} {
				total := int64(0)
				if slices.Contains(shown, one) {
					total = 1
				}
				for query, total := range map[string]int64{one: total, one + ",cam_food": 1, one + ",cam_none": total} {
					if got := reader.Get("leads?campaign_id=" + query); got.Pagination.Total != total {
						t.Errorf("%s: %s: %s", narrowed, query, got.Body)
					}
					lead := strings.Contains(string(reader.Get("leads/changes?campaign_id="+query).Body), `"lead":`)
					if lines := len(reader.Stream("leads?campaign_id=" + query)); int64(lines) != total || lead != (total > 0) {
						t.Errorf("%s: %s: %d lines, in the feed %v", narrowed, query, lines, lead)
					}
				}
			}
		}
		for narrowed := range readers {
			check(narrowed, "cam_food")
		}
		keep("ind_food")
		for narrowed := range readers {
			if strings.Contains(narrowed, "ind_food") {
				check(narrowed, "cam_food", "cam_moved")
			} else {
				check(narrowed, "cam_food")
			}
		}
		keep("ind_tools")
		for narrowed := range readers {
			check(narrowed, "cam_food")
		}
	})
}

// A key of some industries is shown how many leads of these each campaign has, and what it asks of the number is asked of that.
func TestCampaignsAreCountedForAKeyOfSomeIndustries(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		const campaigns, leads = 60, 400
		industries := []id.Industry{"ind_a", "ind_b", "ind_c"}
		var all []lead.Campaign
		counts := map[id.Campaign]map[id.Industry]int64{}
		s.changeLeads(t, func(ctx context.Context, tx store.Tx, at time.Time) error {
			all = nil
			var taxonomy lead.Taxonomy
			for _, one := range industries {
				taxonomy.Industries = append(taxonomy.Industries, lead.Industry{ID: one, Name: string(one), Slug: "i", Active: true})
			}
			for n := range campaigns { // two have each instant
				moment := at.Add(-time.Duration(campaigns-n/2) * time.Minute)
				all = append(all, lead.Campaign{
					ID: id.Campaign(fmt.Sprintf("cam_%03d", n)), Name: "C", Status: lead.Statuses()[n%4], Industry: industries[n%3],
					CreatedAt: moment, UpdatedAt: moment,
				})
			}
			if err := tx.Taxonomy().Keep(ctx, taxonomy); err != nil {
				return err
			}
			return tx.Campaigns().Keep(ctx, all)
		})
		s.changeLeads(t, func(ctx context.Context, tx store.Tx, at time.Time) error {
			var batch []lead.Incoming
			clear(counts)
			for n := range leads {
				one := lead.Lead{ID: id.Lead(leadID(n)), Name: "L", Rating: lead.Unrated, Enrichment: lead.None}
				if n%4 < 3 {
					one.Industry = industries[n%4]
				}
				for i := range n % 3 {
					one.Campaigns = append(one.Campaigns, all[(n*n/3+7*i)%(campaigns-6)].ID) // the last have none
				}
				slices.Sort(one.Campaigns)
				one.Campaigns = slices.Compact(one.Campaigns)
				for _, in := range one.Campaigns {
					if counts[in] == nil {
						counts[in] = map[id.Industry]int64{}
					}
					counts[in][one.Industry]++
				}
				batch = append(batch, one.Incoming())
			}
			merged := lead.Merge(batch, nil, at)
			if err := tx.Campaigns().Count(ctx, merged.Members); err != nil {
				return err
			}
			return tx.Leads().Keep(ctx, merged.Changed)
		})

		for _, view := range [][]id.Industry{{"ind_a"}, {"ind_a", "ind_c"}, {"ind_none"}} {
			quoted, err := json.Marshal(view)
			must(t, err)
			made := s.Post("/v1/partners", fmt.Sprintf(`{"name":"Acme","origins":[%q],"industryIds":%s}`, acmeOrigin, quoted))
			made.Is(t, 201, "")
			reader := s.readerWith(t, resttest.Data[apiPartner](t, made).Key)
			for query, asked := range map[string]func(c lead.Campaign, count int64) bool{
				"":                 func(lead.Campaign, int64) bool { return true },
				"&has_leads=true":  func(_ lead.Campaign, count int64) bool { return count > 0 },
				"&has_leads=false": func(_ lead.Campaign, count int64) bool { return count == 0 },
				"&min_leads=3":     func(_ lead.Campaign, count int64) bool { return count >= 3 },
				"&status=active&industry_id=ind_a": func(c lead.Campaign, _ int64) bool {
					return c.Status == lead.StatusActive && c.Industry == "ind_a"
				},
			} {
				want := []string{}
				for _, one := range all {
					var count int64
					for _, industry := range view {
						count += counts[one.ID][industry]
					}
					if slices.Contains(view, one.Industry) && asked(one, count) {
						want = append(want, fmt.Sprint(one.ID, " ", count))
					}
				}
				byPage, byCursor := walkCampaigns(t, reader, query, int64(len(want)))
				if diff := cmp.Diff(want, byPage) + cmp.Diff(want, byCursor); diff != "" {
					t.Errorf("%v %q: %s", view, query, diff)
				}
			}
		}
	})
}

// walkCampaigns reads campaigns with their counts by numbered pages, and by cursors.
func walkCampaigns(t *testing.T, reader *partnertest.Client, query string, total int64) (byPage, byCursor []string) {
	t.Helper()
	byPage, byCursor = []string{}, []string{}
	read := func(into *[]string, path string) partnertest.Pagination {
		answer := reader.Get(path)
		answer.Is(t, 200, "")
		var shown []struct {
			ID    string
			Count int64 `json:"lead_count"`
		}
		must(t, json.Unmarshal(answer.Data, &shown))
		for _, one := range shown {
			*into = append(*into, fmt.Sprint(one.ID, " ", one.Count))
		}
		if answer.Pagination.Total != total {
			t.Errorf("%s: a total of %d, want %d", path, answer.Pagination.Total, total)
		}
		return answer.Pagination
	}
	const perPage = 7
	for page := int64(1); page == 1 || page <= (total+perPage-1)/perPage; page++ {
		read(&byPage, fmt.Sprintf("campaigns?per_page=%d&page=%d%s", perPage, page, query))
	}
	at := read(&byCursor, fmt.Sprintf("campaigns?per_page=%d%s", perPage, query))
	for at.NextCursor != nil {
		at = read(&byCursor, fmt.Sprintf("campaigns?per_page=%d%s&cursor=%s", perPage, query, *at.NextCursor))
	}
	return byPage, byCursor
}
