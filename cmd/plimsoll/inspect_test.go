package main

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/inspect"
)

// docs/inspect-json.md explains every field that is printed.
func TestInspectDocFields(t *testing.T) {
	text := read(t, filepath.Join(repo, "docs", "inspect-json.md"))
	fields := map[string]bool{}
	for _, typ := range []reflect.Type{reflect.TypeFor[inspect.Report](), reflect.TypeFor[inspect.Listing](), reflect.TypeFor[inspect.Diff]()} {
		fieldNames(typ, fields)
	}
	if len(fields) < 80 {
		t.Errorf("found only %d fields, want those of reports, listings and differences", len(fields))
	}
	for name := range fields {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("%s is not explained", name)
		}
	}
	if want := fmt.Sprintf("`schema` is %d", inspect.Schema); !strings.Contains(text, want) {
		t.Errorf("the page does not say %q", want)
	}
}
