package sqlite_test

import (
	"slices"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

func TestLimitsBeyond(t *testing.T) {
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	all := []sqlite.Session{
		{Name: "newest", Bytes: 50, Updated: now.Add(-time.Hour)},
		{Name: "oldest", Bytes: 10, Updated: now.Add(-90 * time.Hour)},
		{Name: "middle", Bytes: 40, Updated: now.Add(-50 * time.Hour)},
	}
	for name, tt := range map[string]struct {
		limits sqlite.Limits
		want   []string
	}{
		"none":                {sqlite.Limits{}, nil},
		"of age":              {sqlite.Limits{Age: 60 * time.Hour}, []string{"oldest"}},
		"of age, just":        {sqlite.Limits{Age: 90 * time.Hour}, nil},
		"of bytes":            {sqlite.Limits{Bytes: 89}, []string{"oldest", "middle"}},
		"of bytes, just":      {sqlite.Limits{Bytes: 100}, nil},
		"of bytes, too few":   {sqlite.Limits{Bytes: 1}, []string{"oldest", "middle", "newest"}},
		"of age and bytes":    {sqlite.Limits{Age: 60 * time.Hour, Bytes: 90}, []string{"oldest"}},
		"of age, all of them": {sqlite.Limits{Age: time.Minute}, []string{"oldest", "middle", "newest"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range tt.limits.Beyond(all, now) {
				got = append(got, s.Name)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("want %q beyond the limits, got %q", tt.want, got)
			}
		})
	}
}

// TestExpire: a session goes as it was listed, and stays when somebody has gone on with it. What
// a fork of it names stays, too, also through a collection.
func TestExpire(t *testing.T) {
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	s := open(t, newFile(t), sqlite.Options{Now: func() time.Time { return now }})
	ctx := t.Context()
	for _, name := range []string{"gone", "used"} {
		must(t, s.Put(ctx, name, []edit.Blob{blobOf("of both"), blobOf("of " + name)}))
		must(t, s.Append(ctx, name, 0, lines("one")))
	}
	must(t, s.Fork(ctx, "gone", "fork", 1))
	var all []sqlite.Session
	for one, err := range s.Sessions(ctx) {
		must(t, err)
		all = append(all, one)
	}
	now = now.Add(time.Minute)
	must(t, s.Append(ctx, "used", 1, lines("two")))
	for _, one := range all[:2] {
		gone, err := s.Expire(ctx, one)
		must(t, err)
		if gone != (one.Name == "gone") {
			t.Errorf("%s: want only gone to go, got %v", one.Name, gone)
		}
	}
	_, err := s.GC(ctx)
	must(t, err)
	wholesome(t, s)
	if _, err := s.Get(ctx, "gone", blobOf("of both").Ref); err == nil {
		t.Error("want gone gone")
	}
	for name, texts := range map[string][]string{"used": {"of both", "of used"}, "fork": {"of both", "of gone"}} {
		for _, text := range texts {
			if data, err := s.Get(ctx, name, blobOf(text).Ref); err != nil || string(data) != text {
				t.Errorf("%s: want %q, got %q (%v)", name, text, data, err)
			}
		}
	}
}
