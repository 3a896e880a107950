package console

import "testing"

func TestRatio(t *testing.T) {
	for _, tt := range []struct {
		part, whole int
		want        string
	}{{1, 3, "33%"}, {2, 3, "67%"}, {0, 5, "0%"}, {5, 0, ""}, {1 << 40, 1 << 40, "100%"}} {
		if got := Ratio(tt.part, tt.whole); got != tt.want {
			t.Errorf("Ratio(%d, %d) = %q, want %q", tt.part, tt.whole, got, tt.want)
		}
	}
	if got := PPM(12_345); got != "1.23%" {
		t.Errorf("ppm(12345) = %q", got)
	}
}
