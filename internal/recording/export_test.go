package recording

// LoadAll is Load with where its lines go.
var LoadAll = loadAll
