package image

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
)

// ArchwayDocument is a manifest or a config.
type ArchwayDocument struct {
	MediaType string `json:"mediaType"`
	Body      string `json:"body"`
}

// ArchwayImage is what a registry has of one image: its documents by tag and by digest.
type ArchwayImage struct {
	Tag       string                     `json:"tag"`
	Documents map[string]ArchwayDocument `json:"documents"`
}

func (given ArchwayImage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v2/" {
		return
	}
	document, known := given.Documents[r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]]
	if !known {
		http.Error(w, `{"errors":[{"code":"MANIFEST_UNKNOWN"}]}`, http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", document.MediaType)
	_, _ = w.Write([]byte(document.Body))
}

// configure makes files of the host that trust the registry and accept every image.
func configure(folder, registry string) error {
	registriesConfPath = filepath.Join(folder, "registries.conf")
	policyConfPath = filepath.Join(folder, "policy.json")
	registriesConfDir, registriesCertsDir = folder, folder
	trusted := "[[registry]]\nlocation = \"" + registry + "\"\ninsecure = true\n"
	if err := os.WriteFile(registriesConfPath, []byte(trusted), 0o600); err != nil {
		return err
	}
	return os.WriteFile(policyConfPath, []byte(`{"default":[{"type":"insecureAcceptAnything"}]}`), 0o600)
}

// ArchwayArchitectures is what the inspector finds of an image, or that it fails.
func ArchwayArchitectures(given ArchwayImage) (any, error) {
	server := httptest.NewServer(given)
	defer server.Close()
	folder, err := os.MkdirTemp("", "oracle")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	registry := strings.TrimPrefix(server.URL, "http://")
	if err := configure(folder, registry); err != nil {
		return nil, err
	}
	image := "//" + registry + "/test/image:" + given.Tag
	found, err := newRegistryInspector().GetCompatibleArchitecturesSet(context.Background(), image, false, nil)
	if err != nil {
		return map[string]any{"architectures": nil}, nil
	}
	return map[string]any{"architectures": sets.List(found)}, nil
}
