package client

// MaskBody returns a body with [secret] in the place of keys: of those that are named, and
// of words that look like keys; see [Secret]. What was JSON is JSON still.
func MaskBody(body []byte, keys ...string) []byte { return newMask(keys...).body(body) }
