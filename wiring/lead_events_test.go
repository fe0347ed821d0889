package wiring_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
)

// Webhooks that name events of leads are told the ids of those that were imported, changed and removed, a thousand at most in each; those
// that name none of them are told nothing.
func TestWebhooksThatAskForLeadsAreToldTheirIDs(t *testing.T) {
	t.Parallel()
	eachEnviron(t, func(t *testing.T, dir string, environ []string) {
		environ = append(environ, "HOLDCO_WEBHOOK_ALLOW_PRIVATE=true")
		f := &guideFiles{t: t, dir: dir, environ: environ}
		f.run("migrate", "up")
		server := startProcess(t, environ...)
		ask := resttest.New(t, server.url, string(rootToken))
		receiver, others := listen(t), listen(t)
		subscribed := ask.Post("/v1/webhooks",
			fmt.Sprintf(`{"url":%q,"events":["lead.imported","lead.updated","lead.removed"]}`, receiver.url))
		subscribed.Is(t, 201, "")
		secret := resttest.Data[apiWebhook](t, subscribed).Secret
		ask.Post("/v1/webhooks", fmt.Sprintf(`{"url":%q}`, others.url)).Is(t, 201, "")

		told := map[string][]string{} // by type
		seen := 0
		await := func(want map[string][]string) {
			t.Helper()
			await(t, "what webhooks are told", func() bool {
				receipts := receiver.receipts()
				for _, one := range receipts[seen:] {
					one.verify(t, secret)
					ids, _ := one.Data["ids"].([]any)
					if len(ids) == 0 || len(ids) > 1000 {
						t.Errorf("%s has %d ids", one.Type, len(ids))
					}
					for _, which := range ids {
						told[one.Type] = append(told[one.Type], fmt.Sprint(which))
					}
				}
				seen = len(receipts)
				total, expected := 0, 0
				for of, ids := range want {
					total, expected = total+len(told[of]), expected+len(ids)
				}
				return total >= expected
			})
			for _, ids := range told {
				slices.Sort(ids)
			}
			if diff := cmp.Diff(want, told); diff != "" {
				t.Error(diff)
			}
			clear(told)
		}
		lines := func(name string, numbers ...int) string {
			var text strings.Builder
			for _, n := range numbers {
				fmt.Fprintf(&text, "{\"id\":%q,\"name\":\"%s\"}\n", leadID(n), name)
			}
			return f.write("leads.ndjson", text.String())
		}

		f.run("leads", "import", lines("First", 1, 2, 3))
		await(map[string][]string{"lead.imported": {leadID(1), leadID(2), leadID(3)}})
		f.run("leads", "import", lines("First", 1, 2, 3)) // nothing changes
		f.run("leads", "import", lines("Second", 2, 4))
		await(map[string][]string{"lead.imported": {leadID(4)}, "lead.updated": {leadID(2)}})
		f.run("leads", "rm", leadID(1), leadID(3), "cmp_never")
		await(map[string][]string{"lead.removed": {leadID(1), leadID(3)}})

		many, ids := make([]int, 1500), make([]string, 1500)
		for i := range many {
			many[i], ids[i] = 1000+i, leadID(1000+i)
		}
		f.run("leads", "import", lines("Many", many...))
		await(map[string][]string{"lead.imported": ids})
		f.run("leads", "rm", f.write("ids.txt", strings.Join(ids, "\n")+"\n"))
		await(map[string][]string{"lead.removed": ids})

		ask.Post("/v1/companies", named("acme")).Is(t, 201, "") // which * stands for
		others.types(t, "company.created")
	})
}
