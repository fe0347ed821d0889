package samples_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"holdco/adapters/leads/leadjson"
	"holdco/adapters/leads/samples"
	"holdco/domain/lead"
)

// Those who test with a test key rely on what it reads.
func TestTheSampleOfTestKeysIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	s := samples.Sample()
	names, err := s.Taxonomy.Names()
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	page := s.Search(lead.Query{Size: 2000})
	for _, one := range page.Leads {
		text = append(leadjson.Append(text, one, names), '\n')
	}
	const want = "206f6c3801df47816c7ddd9b81f3ad7de10e5b5f35b89c99051067059d0ad86b"
	if sum := sha256.Sum256(text); page.Total != 1000 || hex.EncodeToString(sum[:]) != want {
		t.Errorf("it has %d leads and the digest %x; if it is to change, put the digest here, and say so in the changelog", page.Total, sum)
	}
	if removed := s.Removed(lead.RemovedQuery{Size: 100}); removed.Total != 20 {
		t.Errorf("%d were removed", removed.Total)
	}
	for _, name := range []string{
		"phone", "email", "website", "google_rating", "instagram", "facebook", "linkedin", "twitter", "tiktok", "industry", "vertical",
		"title",
	} {
		if !strings.Contains(string(text), `"`+name+`":null`) || strings.Count(string(text), `"`+name+`":null`) ==
			strings.Count(string(text), `"`+name+`":`) {
			t.Errorf("%s is known of all leads, or of none", name)
		}
	}
}
