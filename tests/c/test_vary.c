/* Models with other parameters, and in other forms: what they share with the model that was built, and what they
   own. */
#include "check.h"
#include "model/private.h"

enum { NP = 7 + 7 + 19 + 4, NV = 12, WORK = 1024 };

static const double parameters[NP] = {
    2, 0.3, 0.4, 0.5, 0, 0, 0.01, 1, 0.2, 0.3, 0.4, 0.02, 0, 0, /* two bodies */
    0, 1,   0,   0,   0, 1, 0,    0, 0,   1,   1,   0,    0, 0, 1, 0, 0, 0, 1, /* the hinge between them */
    2, 0,   0,   -10, /* the weight of the first */
};

static lg_model *new_model(const double *p)
{
    const lg_block_spec blocks[] = {{1, &(lg_factor_spec){"SE3", 0}}, {1, &(lg_factor_spec){"R3xSO3", 0}}};
    const lg_frame_spec frames[] = {
        {.block = 0}, {.block = 1}, {.block = 0, .offset = {0.5, 0, 0}}, {.block = 1, .offset = {-0.5, 0.1, 0}}};
    const lg_element_spec elements[] = {
        {.type = "rigid_body", .name = "a", .frames = {0}, .nparameters = 7, .parameters = p},
        {.type = "rigid_body", .name = "b", .frames = {1}, .nparameters = 7, .parameters = p + 7},
        {.type = "revolute", .name = "hinge", .frames = {2, 3}, .nparameters = 19, .parameters = p + 14},
        {.type = "gravity", .name = "weight", .frames = {0}, .nparameters = 4, .parameters = p + 33},
    };
    const lg_model_spec spec = {2, 4, 4, blocks, frames, elements, NULL, 0, NULL, 0};
    lg_model *model = NULL;
    lg_report report;
    CHECK(lg_model_create(&spec, &model, &report) == LG_OK);
    return model;
}

static lg_model *variant_of(const lg_model *origin, const double *p)
{
    lg_model *model = NULL;
    lg_report report;
    CHECK(lg_model_vary(origin, NP, p, &model, &report) == LG_OK);
    return model;
}

typedef struct terms {
    double Ma[NV], gyro[NV], force[NV], Btlam[NV], phi[5];
} terms;

static terms terms_of(const lg_model *model)
{
    terms found;
    memset(&found, 0, sizeof found);
    double q[24] = {0}, v[NV], a[NV], lam[5] = {1, 2, 3, 4, 5}, work[WORK];
    const lg_system *system = lg_model_system(model);
    for (int i = 0; i < 3; i++)
        q[3 + 4 * i] = q[15 + 4 * i] = 1;
    q[12] = 1;
    for (int i = 0; i < NV; i++)
        v[i] = 0.1 * i, a[i] = 1 - 0.2 * i;
    CHECK(system->nwork <= WORK && system->space->nrows == 5);
    lg_point point = lg_point_at(0, q, v);
    point.a = a, point.lam = lam, point.work = work;
    const lg_wanted wanted = {
        .Ma = found.Ma, .gyro = found.gyro, .force = found.force, .Btlam = found.Btlam, .phi = found.phi};
    CHECK(system->eval(system->self, &point, &wanted) == LG_OK);
    return found;
}

/* A variant of a variant; the variant in between is freed first. */
static void test_a_variant_is_the_model_built_with_its_parameters(void)
{
    double first[NP], second[NP];
    memcpy(first, parameters, sizeof first);
    first[0] = first[33] = 3, first[8] = 0.7;
    memcpy(second, first, sizeof second);
    second[36] = -1.6, second[13] = 0.05;
    lg_model *built = new_model(parameters), *between = variant_of(built, first), *last = variant_of(between, second),
             *anew = new_model(second);
    lg_model_free(between);
    terms a = terms_of(last), b = terms_of(anew), before = terms_of(built);
    CHECK(memcmp(&a, &b, sizeof a) == 0 && memcmp(&a, &before, sizeof a) != 0);
    CHECK_TEXT(last->system.row_name(last, 4), anew->system.row_name(anew, 4));
    lg_model_free(anew);
    lg_model_free(last);
    lg_model_free(built);
}

static void test_what_depends_on_the_shape_alone_is_shared(void)
{
    lg_model *built = new_model(parameters), *variant = variant_of(built, parameters);
    CHECK(built->shape.memory && !variant->shape.memory && variant->records.used == built->records.used);
    CHECK(variant->row_names == built->row_names && variant->blocks == built->blocks);
    CHECK(variant->pattern.group_block == built->pattern.group_block);
    CHECK(variant->bodies != built->bodies && variant->bodies[0].frames[0].body == variant->bodies);
    lg_model_free(variant);
    lg_model_free(built);
}

static void test_parameters_are_checked(void)
{
    double wrong[NP];
    lg_model *built = new_model(parameters), *model = NULL;
    lg_report report;
    CHECK(lg_model_vary(built, NP - 1, parameters, &model, &report) == LG_BAD_ARGUMENT);
    memcpy(wrong, parameters, sizeof wrong);
    wrong[7] = -1;
    CHECK(lg_model_vary(built, NP, wrong, &model, &report) == LG_BAD_ARGUMENT);
    CHECK_TEXT(report.what, "b: mass: a positive number expected, got -1");
    wrong[7] = NAN;
    CHECK(lg_model_vary(built, NP, wrong, &model, &report) == LG_BAD_ARGUMENT);
    CHECK_TEXT(report.what, "b: mass: a finite number expected, got nan");
    CHECK(!model);
    lg_model_free(built);
}

/* Another form is a copy of the system's struct with other functions: `eval`, and those of its derivatives. */
static void test_forms_share_all_but_their_functions(void)
{
    lg_model *model = new_model(parameters);
    const lg_system *system = lg_model_system(model);
    int differ = 0;
    for (lg_form form = LG_FORM_DYNAMICS; form < LG_FORM_COUNT; form++) {
        lg_system sibling = lg_system_in(system, form);
        differ += sibling.eval != system->eval;
        sibling.eval = system->eval, sibling.sensitivity = system->sensitivity;
        CHECK(memcmp(&sibling, system, sizeof sibling) == 0);
    }
    CHECK(differ == LG_FORM_COUNT - 1);
    lg_model_free(model);
}

int main(void)
{
    RUN(test_a_variant_is_the_model_built_with_its_parameters);
    RUN(test_what_depends_on_the_shape_alone_is_shared);
    RUN(test_parameters_are_checked);
    RUN(test_forms_share_all_but_their_functions);
    return check_result();
}
