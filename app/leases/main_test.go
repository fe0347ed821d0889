package leases_test

import (
	"flag"
	"os"
	"testing"
)

// A history takes long: there are fewer than rapid's hundred, unless somebody asks for them.
func TestMain(m *testing.M) {
	flag.Parse()
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		if err := checks.Value.Set("40"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
