package codex

import (
	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// otherTier is why list prices do not hold for calls of another service tier.
const otherTier = "a service tier other than the standard one"

// tiers are what the client set: for the session, and for the turn, which counts before it.
type tiers struct{ session, turn string }

// unpriced returns why list prices do not hold for the calls of the turn, empty if they do.
func (t tiers) unpriced() string {
	tier := t.turn
	if tier == "" {
		tier = t.session
	}
	switch tier {
	case "", "auto", "default", "standard":
		return ""
	}
	return otherTier
}

// settings takes in what the user set for the session from here on.
func (c *codex) settings(payload []byte) {
	c.tiers.session = gjson.GetBytes(payload, "thread_settings.service_tier").String()
}

// priced says of a new reply whether list prices hold for it, and tells it once.
func (c *codex) priced(no int) string {
	why := c.tiers.unpriced()
	if why != "" && !c.told {
		c.told = true
		read.Unpriced(c.Reading, no, why)
	}
	return why
}
