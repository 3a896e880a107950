package client

// BoundReply sets how many bytes a reply may have that is not streamed.
func (c *Client) BoundReply(most int64) { c.mostReply = most }

// Mask takes a key out of a body.
func Mask(key, body string) { newMask(key).body([]byte(body)) }
