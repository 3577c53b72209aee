package pickle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// container builds tuples, lists and dictionaries, and keeps the memo.
func (m *machine) container(op byte) (bool, error) {
	switch op {
	case '(':
		m.push(mark{})
	case ')':
		m.push(tuple{})
	case ']':
		m.push(&list{})
	case '}':
		m.push(&dict{})
	case 0x85, 0x86, 0x87:
		return true, m.tupleOf(int(op) - 0x84)
	case 't':
		items, err := m.sinceMark()
		m.push(tuple(items))
		return true, err
	case 'l':
		items, err := m.sinceMark()
		m.push(&list{items})
		return true, err
	case 'd':
		items, err := m.sinceMark()
		m.push(&dict{})
		return true, errors.Join(err, m.set(items))
	case 'a':
		item, err := m.pop()
		return true, errors.Join(err, m.extend([]any{item}))
	case 'e':
		items, err := m.sinceMark()
		return true, errors.Join(err, m.extend(items))
	case 's':
		return true, m.setOne()
	case 'u':
		items, err := m.sinceMark()
		return true, errors.Join(err, m.set(items))
	default:
		return m.remember(op)
	}

	return true, nil
}

// remember moves values between stack and memo, and skips what only frames
// the program.
func (m *machine) remember(op byte) (bool, error) {
	switch op {
	case 0x80:
		_, err := m.take(1) // the protocol
		return true, err
	case 0x95:
		_, err := m.take(8) // the length of a frame
		return true, err
	case '0':
		_, err := m.pop()
		return true, err
	case 0x94:
		return true, m.put(int64(len(m.memo)))
	case 'q', 'r', 'p':
		n, err := m.index(op == 'q', op == 'p')
		return true, errors.Join(err, m.put(n))
	case 'h', 'j', 'g':
		n, err := m.index(op == 'h', op == 'g')
		if err != nil {
			return true, err
		}
		value, known := m.memo[n]
		if !known {
			return true, fmt.Errorf("memo %d was never stored", n)
		}
		m.push(value)
	default:
		return false, nil
	}

	return true, nil
}

// index reads the number of a memo: one byte, four, or a line of text.
func (m *machine) index(short, text bool) (int64, error) {
	if text {
		value, err := m.decimal()
		n, ok := value.(int64)
		if err == nil && !ok {
			err = errors.New("memo without a number")
		}
		return n, err
	}

	width := 4
	if short {
		width = 1
	}

	b, err := m.take(width)
	if err != nil {
		return 0, err
	}

	var wide [4]byte
	copy(wide[:], b)
	return int64(binary.LittleEndian.Uint32(wide[:])), nil
}

func (m *machine) put(n int64) error {
	if len(m.stack) == 0 {
		return errors.New("nothing to remember")
	}
	m.memo[n] = m.stack[len(m.stack)-1]
	return nil
}

func (m *machine) tupleOf(n int) error {
	if len(m.stack) < n {
		return errors.New("a tuple of more than the stack holds")
	}
	at := len(m.stack) - n
	items := append(tuple{}, m.stack[at:]...)
	m.stack = append(m.stack[:at], items)
	return nil
}

// sinceMark takes what was pushed after the last mark.
func (m *machine) sinceMark() ([]any, error) {
	for at, value := range slices.Backward(m.stack) {
		if _, ok := value.(mark); ok {
			items := append([]any{}, m.stack[at+1:]...)
			m.stack = m.stack[:at]
			return items, nil
		}
	}
	return nil, errors.New("no mark on the stack")
}

func (m *machine) top() (any, error) {
	if len(m.stack) == 0 {
		return nil, errors.New("the stack is empty")
	}
	return m.stack[len(m.stack)-1], nil
}

func (m *machine) extend(items []any) error {
	top, err := m.top()
	l, ok := top.(*list)
	if err == nil && !ok {
		err = errors.New("append to a value that is not a list")
	}
	if err == nil {
		l.items = append(l.items, items...)
	}
	return err
}

func (m *machine) setOne() error {
	value, err := m.pop()
	if err != nil {
		return err
	}
	key, err := m.pop()
	return errors.Join(err, m.set([]any{key, value}))
}

func (m *machine) set(items []any) error {
	top, err := m.top()
	d, ok := top.(*dict)
	if err == nil && !ok {
		err = errors.New("set an item of a value that is not a dictionary")
	}
	if err != nil || len(items)%2 != 0 {
		return errors.Join(err, errors.New("keys and values do not pair"))
	}
	for i := 0; i < len(items); i += 2 {
		d.keys, d.values = append(d.keys, items[i]), append(d.values, items[i+1])
	}
	return nil
}

// get finds a key of text.
func (d *dict) get(key string) any {
	for i, k := range d.keys {
		if k == key {
			return d.values[i]
		}
	}
	return nil
}

// build makes objects: names, calls and states.
func (m *machine) build(op byte) (bool, error) {
	switch op {
	case 'c':
		module, err := m.line()
		if err != nil {
			return true, err
		}
		name, err := m.line()
		return true, errors.Join(err, m.name(string(module), string(name)))
	case 0x93:
		name, err := m.pop()
		if err != nil {
			return true, err
		}
		module, err := m.pop()
		n, okName := name.(string)
		mod, okModule := module.(string)
		if err == nil && (!okName || !okModule) {
			err = errors.New("a name that is not text")
		}
		return true, errors.Join(err, m.name(mod, n))
	case 'R', 0x81:
		return true, m.call()
	case 'b':
		return true, m.state()
	}

	return false, nil
}

func (m *machine) name(module, name string) error {
	const longest = 60
	g := global{module, name}
	if !allowed[g] {
		return fmt.Errorf("it names %.*s.%.*s: only DataFrames of numpy arrays are read, and nothing is executed",
			longest, module, longest, name)
	}
	m.push(g)
	return nil
}

func (m *machine) call() error {
	args, err := m.pop()
	if err != nil {
		return err
	}

	callee, err := m.pop()
	if err != nil {
		return err
	}

	g, okCallee := callee.(global)
	t, okArgs := args.(tuple)
	if !okCallee || !okArgs {
		return errors.New("a call of a value that is not a name")
	}

	m.push(&object{class: g, args: t})
	return nil
}

func (m *machine) state() error {
	state, err := m.pop()
	if err != nil {
		return err
	}
	top, err := m.top()
	o, ok := top.(*object)
	if err == nil && !ok {
		err = errors.New("a state for a value that is not an object")
	}
	if err == nil {
		o.state = state
	}
	return err
}
