#include "core/codegen/c_library_names.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

namespace exotune::codegen {
namespace {

std::set<std::string> words(const char* text) {
  std::istringstream in(text);
  std::set<std::string> out;
  for (std::string word; in >> word;) out.insert(word);
  return out;
}

// Macros that belong to no family, and variables: a local name would stand for them.
constexpr const char* kMacros =
    "BIG_ENDIAN BUFSIZ BYTE_ORDER EOF INFINITY LITTLE_ENDIAN L_ctermid L_cuserid L_tmpnam "
    "MAXFLOAT NAN NFDBITS NULL PDP_ENDIAN P_tmpdir SNAN WCONTINUED WEXITED WEXITSTATUS "
    "WNOHANG WNOWAIT WSTOPPED WSTOPSIG WTERMSIG WUNTRACED alloca be16toh be32toh be64toh "
    "fpclassify htobe16 htobe32 htobe64 htole16 htole32 htole64 isfinite isgreater "
    "isgreaterequal isinf isless islessequal islessgreater isnan isnormal issubnormal "
    "isunordered le16toh le32toh le64toh linux math_errhandling offsetof signbit stderr "
    "stdin stdout strdupa strndupa unix va_arg va_copy va_end va_start signgam ";

// Functions, and types whose name does not end in _t.
constexpr const char* kDeclared =
    "FILE a64l abort abs acos acosf acosh acoshf acoshl acosl aligned_alloc alloca "
    "arc4random arc4random_buf arc4random_uniform asin asinf asinh asinhf asinhl asinl "
    "at_quick_exit atan atan2 atan2f atan2l atanf atanh atanhf atanhl atanl atexit atof "
    "atoi atol atoll bcmp bcopy bsearch bzero calloc cbrt cbrtf cbrtl ceil ceilf ceill "
    "clearenv clearerr clearerr_unlocked copysign copysignf copysignl cos cosf cosh coshf "
    "coshl cosl ctermid div dprintf drand48 drand48_r drem dremf dreml ecvt ecvt_r erand48 "
    "erand48_r erf erfc erfcf erfcl erff erfl exit exp exp2 exp2f exp2l expf expl "
    "explicit_bzero expm1 expm1f expm1l fabs fabsf fabsl fclose fcvt fcvt_r fd_mask fd_set "
    "fdim fdimf fdiml fdopen feof feof_unlocked ferror ferror_unlocked fflush "
    "fflush_unlocked ffs ffsl ffsll fgetc fgetc_unlocked fgetpos fgets fileno "
    "fileno_unlocked finite finitef finitel flockfile floor floorf floorl fma fmaf fmal "
    "fmax fmaxf fmaxl fmemopen fmin fminf fminl fmod fmodf fmodl fopen fprintf fputc "
    "fputc_unlocked fputs fread fread_unlocked free freopen frexp frexpf frexpl fscanf "
    "fseek fseeko fsetpos ftell ftello ftrylockfile funlockfile fwrite fwrite_unlocked "
    "gamma gammaf gammal gcvt getc getc_unlocked getchar getchar_unlocked getdelim getenv "
    "getline getloadavg getsubopt getw hypot hypotf hypotl ilogb ilogbf ilogbl index "
    "initstate initstate_r isinf isinff isinfl isnan isnanf isnanl j0 j0f j0l j1 j1f j1l jn "
    "jnf jnl jrand48 jrand48_r l64a labs lcong48 lcong48_r ldexp ldexpf ldexpl ldiv lgamma "
    "lgamma_r lgammaf lgammaf_r lgammal lgammal_r llabs lldiv llrint llrintf llrintl "
    "llround llroundf llroundl log log10 log10f log10l log1p log1pf log1pl log2 log2f log2l "
    "logb logbf logbl logf logl lrand48 lrand48_r lrint lrintf lrintl lround lroundf "
    "lroundl malloc mblen mbstowcs mbtowc memccpy memchr memcmp memcpy memmove memset "
    "mkdtemp mkstemp mkstemps mktemp modf modff modfl mrand48 mrand48_r nan nanf nanl "
    "nearbyint nearbyintf nearbyintl nextafter nextafterf nextafterl nexttoward nexttowardf "
    "nexttowardl nrand48 nrand48_r on_exit open_memstream pclose perror popen "
    "posix_memalign pow powf powl printf pselect putc putc_unlocked putchar "
    "putchar_unlocked putenv puts putw qecvt qecvt_r qfcvt qfcvt_r qgcvt qsort quick_exit "
    "rand rand_r random random_r realloc reallocarray realpath remainder remainderf "
    "remainderl remove remquo remquof remquol rename renameat rewind rindex rint rintf "
    "rintl round roundf roundl rpmatch scalb scalbf scalbl scalbln scalblnf scalblnl scalbn "
    "scalbnf scalbnl scanf seed48 seed48_r select setbuf setbuffer setenv setlinebuf "
    "setstate setstate_r setvbuf significand significandf significandl sin sinf sinh sinhf "
    "sinhl sinl snprintf sprintf sqrt sqrtf sqrtl srand srand48 srand48_r srandom srandom_r "
    "sscanf stpcpy stpncpy strcasecmp strcasecmp_l strcat strchr strcmp strcoll strcoll_l "
    "strcpy strcspn strdup strerror strerror_l strerror_r strlen strncasecmp strncasecmp_l "
    "strncat strncmp strncpy strndup strnlen strpbrk strrchr strsep strsignal strspn strstr "
    "strtod strtof strtok strtok_r strtol strtold strtoll strtoq strtoul strtoull strtouq "
    "strxfrm strxfrm_l system tan tanf tanh tanhf tanhl tanl tempnam tgamma tgammaf tgammal "
    "tmpfile tmpnam tmpnam_r trunc truncf truncl u_char u_int u_long u_short uint ulong "
    "ungetc unsetenv ushort va_list valloc vdprintf vfprintf vfscanf vprintf vscanf "
    "vsnprintf vsprintf vsscanf wcstombs wctomb y0 y0f y0l y1 y1f y1l yn ynf ynl ";
// Functions that compilers know without a header.
constexpr const char* kBuiltIn =
    "cabs cabsf cabsl cacos cacosf cacosh cacoshf cacoshl cacosl carg cargf cargl casin "
    "casinf casinh casinhf casinhl casinl catan catanf catanh catanhf catanhl catanl ccos "
    "ccosf ccosh ccoshf ccoshl ccosl cexp cexpf cexpl cimag cimagf cimagl clog clog10 "
    "clog10f clog10l clogf clogl conj conjf conjl cpow cpowf cpowl cproj cprojf cprojl "
    "creal crealf creall csin csinf csinh csinhf csinhl csinl csqrt csqrtf csqrtl ctan "
    "ctanf ctanh ctanhf ctanhl ctanl dcgettext dgettext execl execle execlp execv execve "
    "execvp exp10 exp10f exp10l fork fprintf_unlocked fputs_unlocked gettext imaxabs "
    "isalnum isalpha isascii isblank iscntrl isdigit isgraph islower isprint ispunct "
    "isspace isupper iswalnum iswalpha iswblank iswcntrl iswdigit iswgraph iswlower "
    "iswprint iswpunct iswspace iswupper iswxdigit isxdigit pow10 pow10f pow10l "
    "printf_unlocked puts_unlocked sincos sincosf sincosl strfmon strftime toascii tolower "
    "toupper towlower towupper ";

bool begins(const std::string& name, const char* prefix) { return name.rfind(prefix, 0) == 0; }

bool upper_or_digit(char c) {
  return std::isupper(static_cast<unsigned char>(c)) || std::isdigit(static_cast<unsigned char>(c));
}

}  // namespace

bool is_macro_of_library(const std::string& name) {
  static const std::set<std::string> others = words(kMacros);
  if (others.contains(name)) return true;
  const bool shouts =
      std::all_of(name.begin(), name.end(), [](char c) { return c == '_' || upper_or_digit(c); });
  for (const char* end : {"_MAX", "_MIN", "_WIDTH"})
    if (shouts && name.ends_with(end)) return true;
  if ((begins(name, "INT") || begins(name, "UINT")) && name.ends_with("_C")) return true;
  for (const char* family :
       {"M_", "FP_", "MATH_", "HUGE_", "EXIT_", "SEEK_", "RENAME_", "FD_", "SNAN", "WIF"}) {
    const size_t n = std::char_traits<char>::length(family);
    if (begins(name, family) && name.size() > n && upper_or_digit(name[n])) return true;
  }
  return false;
}

bool is_declared_by_library(const std::string& name) {
  static const std::set<std::string> declared = words(kDeclared);
  static const std::set<std::string> built_in = words(kBuiltIn);
  return declared.contains(name) || built_in.contains(name) || name.ends_with("_t");
}

}  // namespace exotune::codegen
