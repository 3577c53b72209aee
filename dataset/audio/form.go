package audio

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/textproto"
)

// boundary separates the fields of a form. It is the same for all, so that requests
// share their headers.
const boundary = "bench-form-5d0c8a41e7b94f26"

// FormType is the content type of a Form.
const FormType = "multipart/form-data; boundary=" + boundary

// Form encodes a WAV file and pairs of names and texts as multipart/form-data, the
// file first.
func Form(wav []byte, texts [][2]string) ([]byte, error) {
	if bytes.Contains(wav, []byte(boundary)) {
		return nil, fmt.Errorf("encode audio: the file contains the text %q, which separates the fields of requests",
			boundary)
	}

	const room = 4 << 10 // for the texts
	var b bytes.Buffer
	b.Grow(len(wav) + room)
	form := multipart.NewWriter(&b)
	err := form.SetBoundary(boundary)
	if err == nil {
		err = writeFile(form, wav)
	}
	for _, text := range texts {
		if err == nil {
			err = form.WriteField(text[0], text[1])
		}
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("encode form: %w", err)
	}
	return b.Bytes(), nil
}

func writeFile(form *multipart.Writer, wav []byte) error {
	part, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="audio.wav"`}, "Content-Type": {"audio/wav"},
	})
	if err == nil {
		_, err = part.Write(wav)
	}
	return err
}
