package client_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/client"
)

// A body that is shown to somebody has no key in it, also where it is escaped, and is JSON
// still.
func TestMaskBody(t *testing.T) {
	got := client.MaskBody([]byte(`{"a":"my hunter2-hunter2","b":"hunter2\u002dhunter2","c":"sk-ant-012345","d":"kept"}`), "hunter2-hunter2")
	if want := `{"a":"my [secret]","b":"[secret]","c":"[secret]","d":"kept"}`; string(got) != want {
		t.Errorf("got %s", got)
	}
}
