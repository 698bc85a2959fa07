from django.urls import path

from apps.tables import views

app_name = "tables"
urlpatterns = [
    path("new/", views.new_table, name="new"),
    path("pass/<str:token>/", views.use_pass, name="pass"),
    path("<slug:code>/", views.table_page, name="table"),
    path("<slug:code>/move/", views.move, name="move"),
    path("<slug:code>/pass/", views.make_pass, name="make_pass"),
    path("<slug:code>/<slug:action>/", views.do, name="do"),
]
