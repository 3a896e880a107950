package gateway

// InMemory returns how many conversations are in memory.
func (g *Gateway) InMemory() int {
	g.open.mu.Lock()
	defer g.open.mu.Unlock()
	return g.open.order.Len()
}
