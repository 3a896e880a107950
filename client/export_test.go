package client

import "time"

// BoundReply sets how many bytes a reply may have that is not streamed.
func (c *Client) BoundReply(most int64) { c.mostReply = most }

// MaskTime returns how long it takes to take a key out of a body.
func MaskTime(key, body string) time.Duration {
	start := time.Now()
	newMask(key).body([]byte(body))
	return time.Since(start)
}
