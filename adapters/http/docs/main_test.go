package docs_test

import (
	"os"
	"testing"

	"holdco/adapters/system/processtest"
)

func TestMain(m *testing.M) {
	processtest.Setup() // browsers leave temporary files behind
	os.Exit(m.Run())
}
