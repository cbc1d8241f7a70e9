// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Where on the stack a call is, so that it can be asked later whether the call still goes on. An
// error handler may leave MPI's function, and attrcache's that called it, by longjmp or by an
// exception. No destructor runs then (the interposer is compiled without exceptions). So whatever
// must not outlast a call into MPI is kept with the call's StackPlace.
//
// A constructor that keeps its own return address must not be inlined. GCC heeds an attribute of
// constructors only in their class. (At the definition it is lost where all sources are compiled
// as one.)

#ifndef ATTRCACHE_MPI_NATIVE_STACK_PLACE_H_
#define ATTRCACHE_MPI_NATIVE_STACK_PLACE_H_

namespace attrcache::mpi {

struct StackPlace {
  const void* address = nullptr;  // of an object in the frame of the function that makes the call
  const void* code = nullptr;     // a return address into that function

  // Whether the call goes on: it has led to the function that asks. (Also true if the stack can't
  // be read that far.) Takes microseconds.
  bool lives() const;
};

// Exists while a function of one purpose runs. Tools may call one such function from within
// another; only a thread's outermost call counts.
class NestedCall {
 public:
  // `outermost` is the thread's, for that purpose.
  [[gnu::noinline]] explicit NestedCall(StackPlace& outermost);
  ~NestedCall();
  NestedCall(const NestedCall&) = delete;
  NestedCall& operator=(const NestedCall&) = delete;

  bool is_outermost() const { return outermost_.address == this; }

 private:
  StackPlace& outermost_;
};

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_STACK_PLACE_H_
