package catalog

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

func TestMoneyForPeople(t *testing.T) {
	for _, c := range []struct {
		m    Money
		want string
	}{
		{Money{}, "?"},
		{Dollars(0), "$0"},
		{Dollars(1_234_567_000_000), "$1.23"},
		{Dollars(1_995_000_000_000), "$2.00"},
		{Dollars(100_000_000_000), "$0.10"},
		{Dollars(12_345_000_000), "$0.0123"},
		{Dollars(42_000_000), "$0.000042"},
		{Dollars(-1_500_000_000_000), "-$1.50"},
	} {
		if got := c.m.String(); got != c.want {
			t.Errorf("%+v: want %s, got %s", c.m, c.want, got)
		}
	}
}

func TestMoneyAsJSON(t *testing.T) {
	for m, want := range map[Money]string{
		{}: "null", Dollars(0): "0", Dollars(1_234_567_000_000): "1.234567", Dollars(-500_000_000_000): "-0.5", Dollars(600_000): "0.000001",
	} {
		if got, err := json.Marshal(m); err != nil || string(got) != want {
			t.Errorf("%+v: want %s, got %s, %v", m, want, got, err)
		}
	}
	for _, bad := range []string{`"1"`, "1e3", "1.2345678", "-", "99999999999999999999", ".5", "{}"} {
		var m Money
		if err := m.UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s: want an error, got %+v", bad, m)
		}
	}
}

// TestMoneyAddsUp: whole microdollars survive JSON, sums undo differences, and what is not known stays so.
func TestMoneyAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := Dollars(rapid.Int64Range(-1e12, 1e12).Draw(t, "a") * picoPerMicro)
		b := Dollars(rapid.Int64Range(-1e12, 1e12).Draw(t, "b") * picoPerMicro)
		data, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		var back Money
		if err := json.Unmarshal(data, &back); err != nil || back != a {
			t.Fatalf("%s: want %+v, got %+v, %v", data, a, back, err)
		}
		if got := a.Add(b).Sub(b); got != a {
			t.Fatalf("want %+v, got %+v", a, got)
		}
		if got := a.Add(Money{}); got.Known {
			t.Fatalf("a sum with something unknown: got %+v", got)
		}
	})
}
