package client

import (
	"fmt"
	"io"
	"log/slog"
)

// hidden is what is printed in place of a secret.
const hidden = "[secret]"

// A Secret is a text that no way of printing shows: not %v or %#v, not JSON, not slog.
// The zero Secret is none.
type Secret struct {
	// A function, because fmt looks into unexported fields of other types without
	// asking their methods, and of a function it sees only the address.
	reveal func() string
}

var (
	_ fmt.Formatter  = Secret{}
	_ fmt.GoStringer = Secret{}
	_ slog.LogValuer = Secret{}
)

// NewSecret returns text as a Secret; the zero Secret if it is empty.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{func() string { return text }}
}

// Reveal returns the text.
func (s Secret) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// IsZero reports whether there is no text.
func (s Secret) IsZero() bool { return s.reveal == nil }

// String hides the text.
func (s Secret) String() string { return hidden }

// GoString hides the text.
func (s Secret) GoString() string { return hidden }

// Format hides the text, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// LogValue hides the text.
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText hides the text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// MarshalJSON hides the text.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }
