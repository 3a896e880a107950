package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// fileBytes returns the size of the file and its log; in memory, of the pages.
func (s *Store) fileBytes(ctx context.Context) (int64, error) {
	var total int64
	if s.path == Memory {
		var pages, size int64
		err := s.read(ctx, func(l *lane) error {
			if err := l.one(ctx, "PRAGMA page_count", nil, &pages); err != nil {
				return err
			}
			return l.one(ctx, "PRAGMA page_size", nil, &size)
		})
		return pages * size, err
	}
	for _, name := range []string{s.path, s.path + "-wal"} {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the log is made when it is needed
		}
		if err != nil {
			return 0, err
		}
		total += info.Size()
	}
	return total, nil
}
