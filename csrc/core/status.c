#include "core/status.h"

#include <string.h>

static const char *const status_names[] = {
#define LG_STATUS(name, message) #name,
#include "core/status.def"
#undef LG_STATUS
};

static const char *const status_messages[] = {
#define LG_STATUS(name, message) message,
#include "core/status.def"
#undef LG_STATUS
};

const char *lg_status_name(lg_status status)
{
    return (unsigned)status < LG_STATUS_COUNT ? status_names[status] : "UNKNOWN";
}

const char *lg_status_message(lg_status status)
{
    return (unsigned)status < LG_STATUS_COUNT ? status_messages[status] : "unknown status";
}

void lg_report_name(lg_report *report, const char *what)
{
    strncpy(report->what, what ? what : "", sizeof report->what - 1);
    report->what[sizeof report->what - 1] = '\0';
}
