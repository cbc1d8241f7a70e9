/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * How attribute calls that fail end: endings CONFIG FIRST. Prints a line for each scenario (an
 * object and a way to fail), from number FIRST on: the code returned, and what the error handlers
 * were called with. CONFIG names the error handlers to set. A call that ends the program leaves
 * its line unfinished, and endings_test.sh starts the program again at the next scenario.
 */
#include "check.h"

enum { kCode = 77, kUnknown = 0x40000ff0 };

static int fails; /* whether callbacks fail */
static int wanted;
static int scenario;
static const char* config;
static char heard[256];

/* ---- Error handlers ---- */

static void hear(const char* who, int code) {
  const size_t used = strlen(heard);
  snprintf(heard + used, sizeof heard - used, " %s:%d%s", who, class_of(code),
           code == kCode ? "(77)" : "");
}
static MPI_Comm before;
static MPI_Comm after;
static const char* name_of(MPI_Comm comm) {
  if (comm == MPI_COMM_WORLD) return "world";
  if (comm == MPI_COMM_SELF) return "self";
  if (comm == before) return "before";
  return comm == after ? "after" : "other";
}
static void on_comm(MPI_Comm* comm, int* code, ...) { hear(name_of(*comm), *code); }
static void on_win(MPI_Win* win, int* code, ...) { (void)win, hear("win", *code); }

/* ---- Scenarios ---- */

static int has(const char* word) { return strstr(config, word) != NULL; }

/*
 * How many scenarios are tried on an object. Each one that ends the program costs another start.
 * Where all would, a few are enough; without any handlers, one for each function's name.
 */
enum { kBrief, kNames, kAll };
static int extent(const char* object) {
  int handled;
  if (has("none"))
    return strcmp(object, "self") == 0 || strcmp(object, "before") == 0 ||
                   strcmp(object, "after") == 0
               ? kBrief
               : kNames;
  if (has("object") && (strcmp(object, "before") == 0 || strcmp(object, "after") == 0 ||
                        strcmp(object, "win") == 0)) {
    handled = !has("fatal-object");
  } else if (strcmp(object, "self") == 0) {
    handled = has("self") || (!ON_OPENMPI && has("world"));
  } else if (strcmp(object, "before") == 0 || strcmp(object, "win") == 0) {
    handled = !ON_OPENMPI && has("world");
  } else {
    handled = has("world");
  }
  return handled ? kAll : kBrief;
}

/* Whether to try this scenario; if so, prints its name. */
static int begin(const char* object, int level, const char* what) {
  if (level > extent(object)) return 0;
  if (scenario++ < wanted) return 0;
  printf("end: %s, %s, %s:", config, object, what);
  fflush(stdout);
  heard[0] = '\0';
  fails = 1;
  return 1;
}
static void end(int code) {
  int class = class_of(code);
  fails = 0;
  /* Where MPI returns MPI_SUCCESS by mistake, attrcache may notice that the call did nothing. */
  if (class == MPI_ERR_OTHER && *heard != '\0' && peer_loses_codes()) class = MPI_SUCCESS;
  /* A number that is no error code (Open MPI's Fortran functions return some) has no class. */
  printf(" returned %d%s, heard%s\n", class, code == kCode ? "(77)" : "",
         *heard != '\0' ? heard : " nobody");
  fflush(stdout);
}

/* The scenarios of all objects of one kind. */
#define KIND(Name, NAME, Handle, Null, wrong)                                                      \
  static int k_##Name;                                                                             \
  static int copy_##Name(Handle h, int k, void* e, void* in, void* out, int* flag) {               \
    (void)h, (void)k, (void)e;                                                                     \
    *(void**)out = in;                                                                             \
    *flag = 1;                                                                                     \
    return fails ? kCode : MPI_SUCCESS;                                                            \
  }                                                                                                \
  static int del_##Name(Handle h, int k, void* value, void* e) {                                   \
    (void)h, (void)k, (void)value, (void)e;                                                        \
    return fails ? kCode : MPI_SUCCESS;                                                            \
  }                                                                                                \
  static void on_any_##Name(const char* object) {                                                  \
    void* value = NULL;                                                                            \
    int flag;                                                                                      \
    int k = kUnknown;                                                                              \
    if (begin(object, kNames, #Name " free unknown")) end(MPI_##Name##_free_keyval(&k));           \
    k = (wrong);                                                                                   \
    if (begin(object, kAll, #Name " free wrong kind")) end(MPI_##Name##_free_keyval(&k));          \
    if (begin(object, kAll, #Name " free nothing")) end(MPI_##Name##_free_keyval(NULL));           \
    if (begin(object, kAll, #Name " create nothing"))                                              \
      end(MPI_##Name##_create_keyval(MPI_##NAME##_NULL_COPY_FN, del_##Name, NULL, NULL));          \
    if (begin(object, kNames, #Name " set null"))                                                  \
      end(MPI_##Name##_set_attr(Null, k_##Name, NULL));                                            \
    if (begin(object, kNames, #Name " get null"))                                                  \
      end(MPI_##Name##_get_attr(Null, k_##Name, &value, &flag));                                   \
    if (begin(object, kNames, #Name " delete null"))                                               \
      end(MPI_##Name##_delete_attr(Null, k_##Name));                                               \
  }                                                                                                \
  static int is_attached_##Name(Handle h, void* expected) {                                        \
    void* value = NULL;                                                                            \
    int flag = 0;                                                                                  \
    MPI_##Name##_get_attr(h, k_##Name, &value, &flag);                                             \
    return flag && value == expected;                                                              \
  }                                                                                                \
  static void on_##Name(const char* object, Handle h) {                                            \
    void* value = NULL;                                                                            \
    int flag = 0;                                                                                  \
    if (begin(object, kBrief, "set unknown")) end(MPI_##Name##_set_attr(h, kUnknown, NULL));       \
    if (begin(object, kNames, "get unknown"))                                                      \
      end(MPI_##Name##_get_attr(h, kUnknown, &value, &flag));                                      \
    if (begin(object, kNames, "delete unknown")) end(MPI_##Name##_delete_attr(h, kUnknown));       \
    if (begin(object, kAll, "set invalid"))                                                        \
      end(MPI_##Name##_set_attr(h, MPI_KEYVAL_INVALID, NULL));                                     \
    if (begin(object, kAll, "delete invalid"))                                                     \
      end(MPI_##Name##_delete_attr(h, MPI_KEYVAL_INVALID));                                        \
    if (begin(object, kAll, "set wrong kind")) end(MPI_##Name##_set_attr(h, (wrong), NULL));       \
    if (begin(object, kAll, "delete wrong kind")) end(MPI_##Name##_delete_attr(h, (wrong)));       \
    MPI_##Name##_set_attr(h, k_##Name, &flag);                                                     \
    if (begin(object, kBrief, "failing delete")) end(MPI_##Name##_delete_attr(h, k_##Name));       \
    printf("kept: %d\n", is_attached_##Name(h, &flag));                                            \
    if (begin(object, kNames, "failing overwrite")) end(MPI_##Name##_set_attr(h, k_##Name, NULL)); \
    printf("kept: %d\n", is_attached_##Name(h, &flag));                                            \
    MPI_##Name##_delete_attr(h, k_##Name);                                                         \
    printf("gone: %d\n", !is_attached_##Name(h, &flag));                                           \
    if (begin(object, kAll, "null value")) end(MPI_##Name##_get_attr(h, k_##Name, NULL, &flag));   \
    if (begin(object, kAll, "null flag")) end(MPI_##Name##_get_attr(h, k_##Name, &value, NULL));   \
  }                                                                                                \
  static void free_##Name(const char* object, Handle h) {                                          \
    MPI_##Name##_set_attr(h, k_##Name, NULL);                                                      \
    if (begin(object, kNames, "failing free")) end(MPI_##Name##_free(&h));                         \
    printf("kept: %d\n", h != Null);                                                               \
    fails = 0;                                                                                     \
    if (h != Null) MPI_##Name##_free(&h);                                                          \
  }

static int type_key;
static int comm_key;
KIND(Comm, COMM, MPI_Comm, MPI_COMM_NULL, type_key)
KIND(Type, TYPE, MPI_Datatype, MPI_DATATYPE_NULL, comm_key)
KIND(Win, WIN, MPI_Win, MPI_WIN_NULL, comm_key)

#define DUP_AND_FREE(Name, Handle)                                            \
  static void dup_and_free_##Name(const char* object, Handle h) {             \
    Handle dup;                                                               \
    MPI_##Name##_set_attr(h, k_##Name, NULL);                                 \
    if (begin(object, kNames, "failing dup")) end(MPI_##Name##_dup(h, &dup)); \
    MPI_##Name##_delete_attr(h, k_##Name);                                    \
    MPI_##Name##_dup(h, &dup);                                                \
    free_##Name(object, dup);                                                 \
  }
DUP_AND_FREE(Comm, MPI_Comm)
DUP_AND_FREE(Type, MPI_Datatype)

/* A handle that was freed, where the MPI can tell. */
static void on_freed(const char* object) {
  void* value = NULL;
  int flag;
  MPI_Comm comm;
  MPI_Comm freed;
  if (ON_OPENMPI) return;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_attr(comm, k_Comm, NULL);
  freed = comm;
  MPI_Comm_free(&comm);
  if (begin(object, kAll, "get freed")) end(MPI_Comm_get_attr(freed, k_Comm, &value, &flag));
  if (begin(object, kAll, "set freed")) end(MPI_Comm_set_attr(freed, k_Comm, NULL));
}

/* By MPI-1's names. */
static void on_mpi1(const char* object, MPI_Comm comm) {
  void* value = NULL;
  int flag;
  if (begin(object, kNames, "put unknown")) end(MPI_Attr_put(comm, kUnknown, NULL));
  if (begin(object, kNames, "get of MPI-1 unknown"))
    end(MPI_Attr_get(comm, kUnknown, &value, &flag));
  if (begin(object, kNames, "delete of MPI-1 unknown")) end(MPI_Attr_delete(comm, kUnknown));
  MPI_Attr_put(comm, k_Comm, NULL);
  if (begin(object, kNames, "failing put")) end(MPI_Attr_put(comm, k_Comm, NULL));
  if (begin(object, kNames, "failing delete of MPI-1")) end(MPI_Attr_delete(comm, k_Comm));
  MPI_Attr_delete(comm, k_Comm);
}

int main(int argc, char** argv) {
  static int memory[2];
  MPI_Errhandler handler;
  MPI_Errhandler win_handler;
  MPI_Datatype type;
  MPI_Win win;
  if (argc != 3) return 2;
  config = argv[1];
  wanted = atoi(argv[2]);
  MPI_Init(&argc, &argv);
  check_begin();
  peer_loses_codes(); /* prints its line here, not within a scenario's */
  MPI_Comm_create_keyval(copy_Comm, del_Comm, &k_Comm, NULL);
  MPI_Type_create_keyval(copy_Type, del_Type, &k_Type, NULL);
  MPI_Win_create_keyval(copy_Win, del_Win, &k_Win, NULL);
  comm_key = k_Comm;
  type_key = k_Type;
  /* An object that was made before the handlers. */
  MPI_Comm_dup(MPI_COMM_WORLD, &before);
  MPI_Comm_create_errhandler(on_comm, &handler);
  MPI_Win_create_errhandler(on_win, &win_handler);
  if (has("return") || has("fatal-object")) {
    handler = win_handler = MPI_ERRORS_RETURN;
  }
  if (has("world")) MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  if (has("self")) MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  if (has("fatal-object")) handler = win_handler = MPI_ERRORS_ARE_FATAL;
  MPI_Comm_dup(MPI_COMM_WORLD, &after);
  MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  if (has("object")) {
    MPI_Comm_set_errhandler(before, handler);
    MPI_Comm_set_errhandler(after, handler);
    MPI_Win_set_errhandler(win, win_handler);
  }
  MPI_Type_contiguous(2, MPI_INT, &type);

  on_any_Comm("world");
  on_any_Type("type");
  on_any_Win("win");
  on_Comm("world", MPI_COMM_WORLD);
  on_Comm("self", MPI_COMM_SELF);
  on_Comm("before", before);
  on_Comm("after", after);
  on_Type("type", type);
  if (!has("none")) on_Type("int", MPI_INT);
  on_Win("win", win);
  on_freed("world");
  on_mpi1("world", MPI_COMM_WORLD);
  if (!has("none")) on_mpi1("before", before);
  dup_and_free_Comm("world", MPI_COMM_WORLD);
  if (!has("none")) dup_and_free_Comm("self", MPI_COMM_SELF);
  dup_and_free_Comm("before", before);
  dup_and_free_Comm("after", after);
  dup_and_free_Type("type", type);
  free_Win("win", win);

  MPI_Type_free(&type);
  MPI_Comm_free(&before);
  MPI_Comm_free(&after);
  printf("end: all %d\n", scenario);
  MPI_Finalize();
  return 0;
}
