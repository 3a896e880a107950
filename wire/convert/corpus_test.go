package convert_test

import (
	"os"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/recording"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// Every recorded request that its provider took is one that every other provider's rules
// allow, once it is converted.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("PLIMSOLL_CORPUS")
	if dir == "" {
		t.Skip("PLIMSOLL_CORPUS is not set: no recorded requests to convert")
	}
	bodies, err := recording.Bodies(dir)
	if err != nil {
		t.Fatal(err)
	}
	converted := 0
	for _, b := range bodies {
		from, ok := codecs.For(b.Dialect)
		if !ok || len(check.Request(b.Dialect, b.Request)) > 0 {
			continue
		}
		for _, to := range codecs.All() {
			r, err := from.DecodeRequest(b.Request)
			if err != nil {
				t.Fatalf("%s: %v", b.Name, err)
			}
			if r.Model == "" {
				r.Model = "m"
			}
			fit := convert.Request(r, codectest.Known(t, to.Dialect()), convert.Options{})
			body, err := to.EncodeRequest(fit.Request)
			if err != nil {
				t.Fatalf("%s to %s: %v", b.Name, to.Dialect(), err)
			}
			for _, f := range (check.Options{Model: "m"}).Request(to.Dialect(), body) {
				t.Errorf("%s to %s: %s at %s: %s\n%.2000s", b.Name, to.Dialect(), f.Rule, f.Path, f.Message, body)
			}
			converted++
		}
	}
	if converted < 5*len(bodies)/2 {
		t.Errorf("want most of %d bodies in five dialects, got %d conversions", len(bodies), converted)
	}
}
