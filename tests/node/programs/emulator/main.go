// What the kernel of the emulated node runs in place of a program of the node's architecture: qemu-user, which follows in the same
// file, since a build's steps run in a root that has no other file of the node's. It does what qemu-user cannot.
//
// A user namespace: the kernel refuses unshare() to a process of several threads (EINVAL), and qemu-user always is one. A program
// of containers/storage names in its environment what it wants to unshare, so the process is started in the namespace.
//
// A program that was opened and has no path: qemu-user cannot run its /proc/self/exe later. It gets a copy that has one.
//
// Capabilities of the program's file: they would end here, where one program starts another.
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

const (
	unshareVariable   = "_Containers-unshare"
	execDescriptor    = 2 // AT_EXECFD
	lastCapability    = 40
	memfdCreate       = 319
	closeOnExec       = 1
	capabilityVersion = 0x20080522
	ambient           = 47 // PR_CAP_AMBIENT
	raise             = 2
)

// main is called as binfmt_misc calls an interpreter with the flags C and P: INTERPRETER PROGRAM NAME ARGUMENTS...
func main() {
	program := withPath(os.Args[1])
	arguments := append([]string{"qemu", "-0", os.Args[2], program}, os.Args[3:]...)
	emulator := openEmulator()
	keepCapabilities()
	flags, _ := strconv.Atoi(os.Getenv(unshareVariable))
	if flags&syscall.CLONE_NEWUSER == 0 {
		exitOn(syscall.Exec(emulator, arguments, os.Environ()))
	}
	os.Setenv(unshareVariable, strconv.Itoa(flags&^syscall.CLONE_NEWUSER))
	os.Exit(runInUserNamespace(emulator, arguments))
}

// withPath gives the program's path, or that of a copy.
func withPath(program string) string {
	opened := openedByKernel()
	defer opened.Close() // Else the program has a descriptor more.
	if !strings.HasPrefix(program, "/proc/self/fd/") && !strings.HasPrefix(program, "/dev/fd/") {
		return program
	}
	copied := must(os.CreateTemp("", ".program-"))
	must(io.Copy(copied, opened))
	exitOn(copied.Chmod(0o755))
	exitOn(copied.Close())
	return copied.Name()
}

// openedByKernel gives the program's file, which comes with the flag C.
func openedByKernel() *os.File {
	call(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 1, 0) // Else that is root's where the program's file gives capabilities.
	vector := must(os.ReadFile("/proc/self/auxv"))
	for ; len(vector) >= 16; vector = vector[16:] {
		if binary.LittleEndian.Uint64(vector) == execDescriptor {
			return os.NewFile(uintptr(binary.LittleEndian.Uint64(vector[8:])), "program")
		}
	}
	return os.NewFile(^uintptr(0), "none")
}

// openEmulator gives a path of qemu-user: the end of this file, whose last 8 bytes are its length. It is there in any root.
func openEmulator() string {
	file := must(os.Open("/proc/self/exe"))
	end := must(file.Seek(-8, io.SeekEnd))
	var length int64
	exitOn(binary.Read(file, binary.LittleEndian, &length))
	name := must(syscall.BytePtrFromString("qemu"))
	descriptor := call(memfdCreate, uintptr(unsafe.Pointer(name)), closeOnExec, 0)
	must(io.Copy(os.NewFile(descriptor, "qemu"), io.NewSectionReader(file, end-length, length)))
	return fmt.Sprintf("/proc/self/fd/%d", descriptor)
}

// keepCapabilities has those that a user other than root has go on to the next program of this thread.
func keepCapabilities() {
	runtime.LockOSThread()
	if os.Geteuid() == 0 {
		return
	}
	header := struct{ version, pid uint32 }{version: capabilityVersion}
	var sets [2]struct{ effective, permitted, inheritable uint32 }
	call(syscall.SYS_CAPGET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&sets)), 0)
	sets[0].inheritable, sets[1].inheritable = sets[0].permitted, sets[1].permitted
	call(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&sets)), 0)
	for capability := uintptr(0); capability <= lastCapability; capability++ {
		if sets[capability/32].permitted>>(capability%32)&1 == 1 {
			call(syscall.SYS_PRCTL, ambient, raise, capability)
		}
	}
}

func call(number, first, second, third uintptr) uintptr {
	result, _, failed := syscall.Syscall6(number, first, second, third, 0, 0, 0)
	if failed != 0 {
		exitOn(failed)
	}
	return result
}

// runInUserNamespace starts the program in a namespace that whoever started this one maps. Capabilities are kept over the start of
// qemu-user, as they are by unshare().
func runInUserNamespace(emulator string, arguments []string) int {
	capabilities := make([]uintptr, lastCapability+1)
	for i := range capabilities {
		capabilities[i] = uintptr(i)
	}
	attributes := &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys:   &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, AmbientCaps: capabilities},
	}
	process := must(os.StartProcess(emulator, arguments, attributes))
	// Whoever started this one reads the namespace's process id to the end of a pipe.
	for _, name := range []string{"_Containers-pid-pipe", "_Containers-continue-pipe"} {
		if descriptor, err := strconv.Atoi(os.Getenv(name)); err == nil {
			syscall.Close(descriptor)
		}
	}
	return must(process.Wait()).ExitCode()
}

func must[T any](value T, err error) T {
	exitOn(err)
	return value
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "emulator:", err)
		os.Exit(1)
	}
}
