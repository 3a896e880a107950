package client

// BoundReply sets how many bytes a reply may have that is not streamed.
func (c *Client) BoundReply(most int64) { c.mostReply = most }
