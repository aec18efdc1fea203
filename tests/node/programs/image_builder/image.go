package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"runtime"
)

type layerFile struct {
	name    string
	mode    int64
	content []byte
}

type layer struct {
	// diffID is the digest of the archive before it was compressed.
	diffID  string
	content []byte
}

type descriptor struct {
	MediaType string    `json:"mediaType"`
	Digest    string    `json:"digest"`
	Size      int       `json:"size"`
	Platform  *platform `json:"platform,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type manifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Config        descriptor   `json:"config"`
	Layers        []descriptor `json:"layers"`
}

func newLayer(files []layerFile) layer {
	var archive, packed bytes.Buffer
	writer := tar.NewWriter(&archive)
	for _, file := range files {
		header := &tar.Header{Name: file.name, Mode: file.mode, Size: int64(len(file.content)), Typeflag: tar.TypeReg}
		exitOn(writer.WriteHeader(header))
		must(writer.Write(file.content))
	}
	exitOn(writer.Close())
	compressor := gzip.NewWriter(&packed)
	must(compressor.Write(archive.Bytes()))
	exitOn(compressor.Close())
	return layer{diffID: digestOf(archive.Bytes()), content: packed.Bytes()}
}

// appendLayer pushes the base image for this program's architecture with one layer more, and gives the digest of the result.
func appendLayer(from, to repository, added layer, labels map[string]string) string {
	base := readManifest(from)
	for _, each := range base.Layers {
		to.pushBlob(from.blob(each.Digest))
	}
	to.pushBlob(added.content)
	config := renderConfig(from.blob(base.Config.Digest), added, labels)
	to.pushBlob(config)
	result := must(json.Marshal(manifest{
		SchemaVersion: 2,
		MediaType:     manifestType,
		Config:        describe(configType, config),
		Layers:        append(base.Layers, describe(layerType, added.content)),
	}))
	to.pushManifest(result)
	return digestOf(result)
}

func describe(mediaType string, content []byte) descriptor {
	return descriptor{MediaType: mediaType, Digest: digestOf(content), Size: len(content)}
}

// readManifest takes what the index has for the architecture of this program, not what somebody asks for: on a wrong node the
// result is for that node, which must be found out.
func readManifest(from repository) manifest {
	var index struct{ Manifests []descriptor }
	exitOn(json.Unmarshal(from.manifest(from.reference), &index))
	for _, each := range index.Manifests {
		if each.Platform == nil || each.Platform.Architecture != runtime.GOARCH {
			continue
		}
		var found manifest
		exitOn(json.Unmarshal(from.manifest(each.Digest), &found))
		return found
	}
	exitOn(fmt.Errorf("the base image has nothing for %s", runtime.GOARCH))
	return manifest{}
}

func renderConfig(base []byte, added layer, labels map[string]string) []byte {
	var config struct {
		Architecture string         `json:"architecture"`
		OS           string         `json:"os"`
		Config       map[string]any `json:"config"`
		Rootfs       struct {
			Type    string   `json:"type"`
			DiffIDs []string `json:"diff_ids"`
		} `json:"rootfs"`
	}
	exitOn(json.Unmarshal(base, &config))
	config.Config["Labels"] = labels
	config.Rootfs.DiffIDs = append(config.Rootfs.DiffIDs, added.diffID)
	return must(json.Marshal(config))
}
