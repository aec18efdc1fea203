// An OCI runtime in front of runc that makes a node of an amd64 machine run the programs of another architecture, and only those.
//
// An entry point built for the node's architecture runs under qemu-user; one built for any other is covered by a program that
// this machine cannot execute either, so that the kernel itself answers ENOEXEC, as on real hardware. binfmt_misc would do the
// first for the whole machine, and the native node could then run everything.
//
// EMULATED_RUNC: the runtime behind; EMULATED_QEMU: a static qemu-user; EMULATED_MACHINE: the ELF e_machine of the node
// (183 is aarch64); EMULATED_FOREIGN: any ELF file that this machine cannot execute.
package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const sandboxAnnotation = "io.kubernetes.cri.container-type"
const interpreter = "/.qemu"

type object = map[string]any

func main() {
	line := parseLine(os.Args)
	switch line.command {
	case "create", "run":
		rewriteFile(filepath.Join(line.bundle, "config.json"), func(config object) { rewriteBundle(config, line.bundle) })
	case "exec":
		if line.process != "" && line.root != "" {
			rootfs := rootOfContainer(line.root, line.container)
			rewriteFile(line.process, func(process object) { emulate(process, rootfs) })
		}
	}
	runtime := os.Getenv("EMULATED_RUNC")
	os.Args[0] = runtime
	err := syscall.Exec(runtime, os.Args, os.Environ())
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

type commandLine struct{ command, bundle, process, root, container string }

func parseLine(args []string) commandLine {
	line := commandLine{bundle: ".", container: args[len(args)-1]}
	for i, arg := range args {
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		switch arg {
		case "--bundle", "-b":
			line.bundle = next
		case "--process", "-p":
			line.process = next
		case "--root":
			line.root = next
		case "create", "run", "exec":
			if line.command == "" {
				line.command = arg
			}
		}
	}
	return line
}

// rewriteBundle changes the configuration of a new container; a pod's sandbox is a program of this machine and stays as it is.
func rewriteBundle(config object, bundle string) {
	annotations, _ := config["annotations"].(object)
	if annotations[sandboxAnnotation] == "sandbox" {
		return
	}
	root, _ := config["root"].(object)
	rootfs, _ := root["path"].(string)
	if !filepath.IsAbs(rootfs) {
		rootfs = filepath.Join(bundle, rootfs)
	}
	process, _ := config["process"].(object)
	mounts, _ := config["mounts"].([]any)
	mounts = append(mounts, bindMount(os.Getenv("EMULATED_QEMU"), interpreter))
	if foreign := emulate(process, rootfs); foreign != "" {
		mounts = append(mounts, bindMount(os.Getenv("EMULATED_FOREIGN"), foreign))
	}
	config["mounts"] = mounts
}

func bindMount(source, destination string) object {
	return object{"source": source, "destination": destination, "type": "bind", "options": []string{"bind", "ro", "exec"}}
}

// emulate puts the interpreter in front of a program of the node's architecture. It returns the path of a program of another one.
func emulate(process object, rootfs string) string {
	args, _ := process["args"].([]any)
	if len(args) == 0 {
		return ""
	}
	name, _ := args[0].(string)
	program := lookUp(name, rootfs, process)
	wanted, _ := strconv.Atoi(os.Getenv("EMULATED_MACHINE"))
	switch machineOf(filepath.Join(rootfs, program)) {
	case wanted:
		process["args"] = append([]any{interpreter, "-0", name, program}, args[1:]...)
		return ""
	case 0:
		return ""
	default:
		return program
	}
}

// lookUp resolves a name without a slash through the container's PATH.
func lookUp(name, rootfs string, process object) string {
	if strings.Contains(name, "/") {
		return name
	}
	environment, _ := process["env"].([]any)
	for _, entry := range environment {
		text, _ := entry.(string)
		path, isPath := strings.CutPrefix(text, "PATH=")
		if !isPath {
			continue
		}
		for _, folder := range filepath.SplitList(path) {
			if machineOf(filepath.Join(rootfs, folder, name)) != 0 {
				return filepath.Join(folder, name)
			}
		}
	}
	return name
}

// machineOf gives the e_machine of an ELF file, or 0 for anything else.
func machineOf(file string) int {
	header := make([]byte, 20)
	opened, err := os.Open(file)
	if err != nil {
		return 0
	}
	defer opened.Close()
	if n, _ := opened.Read(header); n < len(header) || string(header[:4]) != "\x7fELF" {
		return 0
	}
	return int(binary.LittleEndian.Uint16(header[18:]))
}

// rootOfContainer finds a running container's root through the state that runc keeps.
func rootOfContainer(root, container string) string {
	var state struct {
		InitProcessPid int `json:"init_process_pid"`
	}
	text, err := os.ReadFile(filepath.Join(root, container, "state.json"))
	if err != nil || json.Unmarshal(text, &state) != nil {
		return "/nonexistent"
	}
	return fmt.Sprintf("/proc/%d/root", state.InitProcessPid)
}

func rewriteFile(file string, change func(object)) {
	text, err := os.ReadFile(file)
	if err != nil {
		return
	}
	value := object{}
	if json.Unmarshal(text, &value) != nil {
		return
	}
	change(value)
	if text, err = json.Marshal(value); err == nil {
		os.WriteFile(file, text, 0o600)
	}
}
