package processtest

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// What CheckName accepts, the Makefile must leave out of "make quick". It may leave out more.
func TestMakeLeavesOutTheTestsThatCheckNameAccepts(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^SLOW +:= \((\?i):(.+)\)$`).FindStringSubmatch(string(makefile))
	if found == nil {
		t.Fatal("the Makefile does not define SLOW")
	}
	if skipped := "(" + found[1] + ")" + found[2] + "|"; !strings.HasPrefix(skipped, slow.String()+"|") {
		t.Errorf("the Makefile skips %s, and tests may be called %s", skipped, slow)
	}
}
