package sse

import "testing"

func TestHeld(t *testing.T) {
	h := Held{Most: 10_000}
	var one, two Size
	h.Begin(&one, 4000)
	h.Begin(&two, 4000)
	if err := h.Check(); err != nil {
		t.Errorf("two parts: %v", err)
	}
	h.Grow(&two, 4000)
	if err := h.Check(); err == nil {
		t.Error("want an error for what both hold together")
	}
	h.End(&one)
	if err := h.Check(); err != nil {
		t.Errorf("one of them has ended: %v", err)
	}
	h.End(&two)
	if h.n != 0 || one != 0 || two != 0 {
		t.Errorf("want nothing held, got %d", h.n)
	}
	if err := new(Held).Check(); err != nil {
		t.Error(err)
	}
}
