package prefix

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// A Claim is what a seal says about a piece of thinking.
type Claim struct {
	Model   string // which model wrote it
	Account string // for whom
	Text    string // what it says
	Before  Digest // what it followed
	Last    ID     // the piece of thinking before it; zero for the first
}

// An ID names a seal.
type ID [8]byte

// A Seal is a claim as it can be read back: names and texts as digests.
type Seal struct {
	ID      ID
	Last    ID
	Before  Digest
	model   ID
	account ID
	text    ID
}

// By reports whether the model of that name wrote what is sealed.
func (s Seal) By(model string) bool { return s.model == short(model) }

// For reports whether what is sealed was written for that account.
func (s Seal) For(account string) bool { return s.account == short(account) }

// Says reports whether what is sealed says text.
func (s Seal) Says(text string) bool { return s.text == short(text) }

// A Sealer makes and opens seals with its key.
type Sealer struct{ Key string }

const (
	sealVersion = 1
	macLen      = 16
	bodyLen     = 1 + 4*len(ID{}) + len(Digest{})
)

// Seal returns the seal of c: base64, always the same for the same claim.
func (s Sealer) Seal(c Claim) string {
	b := make([]byte, 0, bodyLen+macLen)
	b = append(b, sealVersion)
	model, account, text := short(c.Model), short(c.Account), short(c.Text)
	for _, id := range []ID{c.Last, model, account, text} {
		b = append(b, id[:]...)
	}
	b = append(b, c.Before[:]...)
	return base64.StdEncoding.EncodeToString(append(b, s.mac(b)...))
}

// Open reads a seal, in either alphabet of base64 (RFC 4648 sections 4 and 5), as clients
// that keep its bytes write it in their own. It is false for one that this sealer did not
// make or that was changed.
func (s Sealer) Open(seal string) (Seal, bool) {
	seal = strings.NewReplacer("-", "+", "_", "/").Replace(seal)
	b, err := base64.StdEncoding.DecodeString(seal)
	if err != nil || len(b) != bodyLen+macLen || b[0] != sealVersion {
		return Seal{}, false
	}
	if !hmac.Equal(b[bodyLen:], s.mac(b[:bodyLen])) {
		return Seal{}, false
	}
	var ids [4]ID
	rest := b[1:]
	for i := range ids {
		ids[i], rest = ID(rest[:len(ID{})]), rest[len(ID{}):]
	}
	return Seal{
		ID: short(seal), Last: ids[0], model: ids[1], account: ids[2], text: ids[3],
		Before: Digest(rest[:len(Digest{})]),
	}, true
}

func (s Sealer) mac(b []byte) []byte {
	h := hmac.New(sha256.New, []byte(s.Key))
	_, _ = h.Write(b) // a hash never fails
	return h.Sum(nil)[:macLen]
}

func short(s string) ID {
	sum := sha256.Sum256([]byte(s))
	return ID(sum[:len(ID{})])
}
