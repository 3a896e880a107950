package scriptmodel

import (
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel/internal/prefix"
)

// cacheRules returns how the provider of the dialect caches; false for one that does not.
//
// Messages API: what is marked, found within 20 blocks before a mark, five minutes or one
// hour. The other two: everything, from 1,024 tokens on, one in steps of 128
// (platform.claude.com, platform.openai.com and ai.google.dev, prompt caching).
func (x *exchange) cacheRules() (prefix.Rules, bool) {
	if !x.script.Cache {
		return prefix.Rules{}, false
	}
	r := prefix.Rules{Min: x.script.CacheMin, Short: 5 * time.Minute, Long: time.Hour}
	switch x.route.dialect {
	case messages:
		r.Marked, r.Lookback = true, 20
	case chat, responses:
		r.Step = 128
	case generate:
	default:
		return prefix.Rules{}, false
	}
	return r, true
}
