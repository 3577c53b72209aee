package schema

// Path is a key of a file with the keys that contain it.
type Path struct {
	Name   string   // "load.dataset.kind"
	Values []string // all that it may be; nil: anything
	Open   bool     // a mapping: names of the user's own follow
}

// Paths lists the keys of files with this table, in the order of the table, and
// those within its blocks. What is in lists is left out.
func Paths(file *BlockInfo) []Path { return pathsOf("", file, map[*BlockInfo]bool{}) }

func pathsOf(before string, info *BlockInfo, within map[*BlockInfo]bool) []Path {
	if within[info] {
		return nil // a block within itself
	}
	within[info] = true
	defer delete(within, info)

	var all []Path
	for _, k := range info.Keys {
		name := before + k.Key
		blocks, leaf := k.Shape.parts()
		for _, block := range blocks {
			all = append(all, pathsOf(name+".", block, within)...)
		}
		if leaf != nil {
			all = append(all, Path{Name: name, Values: leaf.values(), Open: leaf.Kind == mapShape})
		}
	}

	return all
}

// parts are the blocks that a key may hold, and the first other shape; nil: none.
func (s Shape) parts() (blocks []*BlockInfo, leaf *Shape) {
	switch s.Kind {
	case BlockShape:
		return []*BlockInfo{s.block}, nil
	case oneShape:
		for _, a := range s.alts {
			inner, other := a.parts()
			blocks = append(blocks, inner...)
			if leaf == nil {
				leaf = other
			}
		}
		return blocks, leaf
	case listShape:
		return nil, nil
	default:
		return nil, &s
	}
}

func (s Shape) values() []string {
	switch s.Kind {
	case enumShape:
		return s.enum
	case flagShape:
		return []string{"true", "false"}
	default:
		return nil
	}
}
