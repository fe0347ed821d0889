package lead_test

import (
	"testing"

	"holdco/domain/lead"
)

// BenchmarkLead is what an import does with each of millions of lines, once it is read.
func BenchmarkLead(b *testing.B) {
	sent := lead.Draft{
		ID: "cmp_01h455vb4pex5vsknk084sn02q", Name: "Müller & Söhne GmbH", Phone: "+49 30 1234567", Email: "info@mueller-soehne.example",
		Website: "https://mueller-soehne.example", Rating: "4.35", Enrichment: "deep",
		Social: lead.Social{
			Instagram: "https://www.instagram.com/mueller", Facebook: "https://www.facebook.com/mueller",
			LinkedIn: "https://www.linkedin.com/company/mueller",
		},
		Vertical: string(dental),
		Contacts: []lead.ContactDraft{
			{Name: "Anna Müller", Title: "CEO", Email: "anna@mueller-soehne.example", Primary: true},
			{Name: "Ben Smith", Title: "Head of \"Sales\"", Email: "ben@mueller-soehne.example"},
		},
		Campaigns: []string{string(spring), string(autumn)},
	}
	bare := lead.Draft{Name: "Acme", Contacts: []lead.ContactDraft{{Name: "Anna"}}}
	for name, draft := range map[string]lead.Draft{"typical": sent, "bare": bare} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				made, err := draft.Lead(catalog)
				if err != nil {
					b.Fatal(err)
				}
				made.Incoming()
			}
		})
	}
}
