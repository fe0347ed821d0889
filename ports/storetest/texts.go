package storetest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"holdco/domain/event"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/team"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

var textRules = []rule{
	{"teams, events, deliveries and receipts keep texts to the last byte", textsAreKept},
}

// texts are of the kind on which stores and the builders of their queries have stumbled.
var texts = []string{
	`it's "quoted"`, `'; DROP TABLE companies; --`, `''`, `""`, "`",
	`back\slash \' \\ \n \x00 \u0000`, `E'\\000'`,
	`? ?? ?0 ?1 ?TableAlias`, `{} {0} {name}`, `$1 $2 $$ $tag$`, `:name @name #name`, `% %% %s %d _`, `/* -- */`,
	"tab\tline\nreturn\r\nend", " leading and trailing ", "",
	"Ärger, façade, naïve, ß", "日本語 中文 한국어", "עברית العربية", "🦆👩‍👩‍👧‍👦🇨🇭", "e\u0301 and \u00e9", "\u200d\ufeff\u00a0", "\U0010FFFF",
}

var longTexts = []string{
	strings.Repeat("𝕏", 4000), strings.Repeat("'", 4000), strings.Repeat(`\`, 4000), strings.Repeat("?", 4000),
	strings.Repeat("long ", 50_000),
}

// mostNamed is how many characters actors and subjects have at most, which are in indexes.
const mostNamed = 200

func textsAreKept(f *fixture) {
	for i, text := range slices.Concat(texts, longTexts) {
		acme := f.found(fmt.Sprintf("text-%d", i))
		if utf8.RuneCountInString(text) <= team.NameLength {
			teams, slots := f.newTeams(acme.ID, 1)
			teams[0].Name = text
			f.update(staffing(teams, slots))
			f.hasTeams(acme.ID, teams, slots)
		}

		named := string([]rune(text)[:min(len([]rune(text)), mostNamed)])
		happened := event.Event{
			Company: acme.ID, Type: event.CompanyUpdated, Actor: event.Actor("user:" + named),
			Subject:  event.Subject{Type: named, ID: named},
			Data:     event.Fields{event.F("list", []string{text}), event.F("text", text)},
			Previous: event.Fields{event.F("nested", event.Fields{event.F("text", text)})},
		}
		f.update(recording(happened))
		got, err := f.store.Activity().List(f.ctx, store.ActivityFilter{Company: &acme.ID}, page.Position{}, 1)
		f.ok(err)
		happened.At = f.clock.Now()
		f.same(unstamped(got.Items), []event.Event{happened})

		endpoint := f.endpoint()
		d := f.send(endpoint.ID, func(d *webhook.Delivery) {
			d.Attempts = []webhook.Attempt{{At: d.CreatedAt, Response: text, Error: text}}
		})
		f.deliveryIs(d)
		d = d.After(webhook.Attempt{At: d.CreatedAt, Response: "!" + text, Error: text + "!"}, 0, d.CreatedAt)
		f.saveDelivery(d)
		f.deliveryIs(d)

		receipt := idempotency.Receipt{
			Key:         idempotency.Key{Caller: "tok_some", Value: fmt.Sprint(i, text)},
			Fingerprint: "f" + text,
			Company:     acme.ID,
			Answer:      []byte("{" + text),
			CreatedAt:   f.clock.Now(),
		}
		if len(text) < idempotency.KeyLength {
			f.update(keeping(receipt))
			f.receiptIs(receipt.Key, &receipt)
		}
	}
}
