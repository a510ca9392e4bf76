/* Status codes and reports. */
#include "check.h"
#include "core/status.h"

static void test_every_code_has_a_name_and_a_message(void)
{
    for (int a = 0; a < LG_STATUS_COUNT; a++) {
        char message[LG_MESSAGE_SIZE], other[LG_MESSAGE_SIZE];
        lg_status_message((lg_status)a, NULL, message);
        CHECK(strlen(lg_status_name((lg_status)a)) > 0);
        CHECK(strlen(message) > 0 && message[strlen(message) - 1] != '.');
        for (int b = 0; b < a; b++) {
            CHECK(strcmp(lg_status_name((lg_status)a), lg_status_name((lg_status)b)) != 0);
            lg_status_message((lg_status)b, NULL, other);
            CHECK(strcmp(message, other) != 0);
        }
    }
    CHECK(LG_OK == 0);
    CHECK_TEXT(lg_status_name(LG_SINGULAR), "SINGULAR");
}

static void test_unknown_codes(void)
{
    CHECK_TEXT(lg_status_name(LG_STATUS_COUNT), "UNKNOWN");
    char message[LG_MESSAGE_SIZE];
    lg_status_message((lg_status)1000, NULL, message);
    CHECK_TEXT(message, "unknown status");
}

static void test_a_message_says_what_where_and_what_to_try(void)
{
    char message[LG_MESSAGE_SIZE];
    lg_report report = {.step = 7, .t = 0.5, .h = 0.25, .iteration = 3, .residual = 2};
    lg_report_name(&report, "row");
    lg_status_message(LG_NO_CONVERGENCE, &report, message);
    CHECK_TEXT(message,
               "Newton's method did not converge: row, at t = 0.5 in step 8 of size h = 0.25, after 3 iterations "
               "with residual 2");
    report = (lg_report){.advice = "do less"};
    lg_status_message(LG_NO_CONVERGENCE, &report, message);
    CHECK_TEXT(message, "Newton's method did not converge; do less");
}

static void test_a_report_says_what_is_wrong_with_an_argument(void)
{
    char message[LG_MESSAGE_SIZE];
    lg_report report = {.advice = "give a positive one"};
    lg_status_message(LG_BAD_ARGUMENT, &report, message);
    CHECK_TEXT(message, "an argument is outside its range; give a positive one");
    lg_report_name(&report, "h must be positive");
    lg_status_message(LG_BAD_ARGUMENT, &report, message);
    CHECK_TEXT(message, "h must be positive; give a positive one");
}

static void test_names_are_cut_to_the_room_there_is(void)
{
    lg_report report = {.step = 7};
    char longer[2 * sizeof report.what];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';

    lg_report_name(&report, longer);
    CHECK(strlen(report.what) == sizeof report.what - 1);
    lg_report_name(&report, "joint 3");
    CHECK_TEXT(report.what, "joint 3");
    lg_report_name(&report, NULL);
    CHECK_TEXT(report.what, "");
    CHECK(report.step == 7);
}

static void test_no_cut_goes_through_a_character(void)
{
    const char *text = "a\u00e9\u20ac\U0001f600b"; /* of 1, 2, 3, 4 and 1 bytes */
    const size_t whole[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    for (size_t room = 0; room < sizeof whole / sizeof *whole; room++)
        CHECK(lg_text_cut(text, room) == whole[room]);

    lg_report report;
    char longer[2 * sizeof report.what] = "x";
    while (strlen(longer) + 2 < sizeof longer)
        strcat(longer, "\u00e9");
    lg_report_name(&report, longer);
    CHECK(strlen(report.what) == sizeof report.what - 1);
    lg_report_name(&report, longer + 1);
    CHECK(strlen(report.what) == sizeof report.what - 2);
    lg_report_say(&report, "%.*s: %d", LG_SHORT(longer), 5);
    CHECK(strlen(report.what) == LG_NAME_SIZE - 1 + 3);
}

static lg_status passes_on(lg_status status, int *reached)
{
    LG_TRY(status);
    *reached = 1;
    return LG_OK;
}

static void test_try_leaves_at_the_first_failure(void)
{
    int reached = 0;
    CHECK(passes_on(LG_CALLBACK, &reached) == LG_CALLBACK && !reached);
    CHECK(passes_on(LG_OK, &reached) == LG_OK && reached);
}

int main(void)
{
    RUN(test_every_code_has_a_name_and_a_message);
    RUN(test_unknown_codes);
    RUN(test_a_message_says_what_where_and_what_to_try);
    RUN(test_a_report_says_what_is_wrong_with_an_argument);
    RUN(test_names_are_cut_to_the_room_there_is);
    RUN(test_no_cut_goes_through_a_character);
    RUN(test_try_leaves_at_the_first_failure);
    return check_result();
}
